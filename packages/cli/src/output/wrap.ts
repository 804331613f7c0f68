/** Words with commas between, in lines of at most `width` characters; a word that is longer has a line of its own. */
export function wrap(words: readonly string[], width: number): string {
  const lines: string[] = [];
  for (const [index, word] of words.entries()) {
    const text = index === words.length - 1 ? word : `${word},`;
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + text.length <= width) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  }
  return lines.join("\n");
}

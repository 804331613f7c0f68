/** The length in bits of the code of each byte, in base 36, and at last of the end of a string: RFC 7541, appendix B. */
const codeLengths =
  "dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca" +
  "d67777777777777777777777878djde6f56565666577666567655677777fbeds" +
  "kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn" +
  "qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq" +
  "u";

const longestCode = 30;
const endOfString = 256;

/** Codes of one length: the first of them, and the symbols in the order of their codes. */
interface CodesOfLength {
  readonly first: number;
  readonly symbols: readonly number[];
}

/** The code is canonical: shorter codes come first, and codes of one length follow their symbols. */
const codes: readonly CodesOfLength[] = (() => {
  const lengths = [...codeLengths].map((digit) => Number.parseInt(digit, 36));
  const byLength: CodesOfLength[] = [];
  let next = 0;
  for (let length = 0; length <= longestCode; length += 1) {
    const symbols = lengths.flatMap((own, symbol) => (own === length ? [symbol] : []));
    byLength.push({ first: next, symbols });
    next = (next + symbols.length) * 2;
  }
  return byLength;
})();

/** The text of a string that was shortened by Huffman's code; undefined when it is none. */
export function decodeHuffman(bytes: Uint8Array): string | undefined {
  let text = "";
  let code = 0;
  let length = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      code = code * 2 + ((byte >> bit) & 1);
      length += 1;
      const symbol = codes[length]?.symbols[code - (codes[length]?.first ?? 0)];
      if (symbol === endOfString || length > longestCode) return undefined;
      if (symbol === undefined) continue;
      text += String.fromCharCode(symbol);
      code = 0;
      length = 0;
    }
  }
  // What fills the last byte are the first bits of the end's code, all of them ones.
  return length < 8 && code === 2 ** length - 1 ? text : undefined;
}

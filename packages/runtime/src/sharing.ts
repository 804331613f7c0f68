/** Lets callers who ask the same question while it is being answered share the answer, also when it is a failure. */
export function sharing<Question, Answer>(
  ask: (question: Question) => Promise<Answer>,
): (question: Question) => Promise<Answer> {
  const underWay = new Map<Question, Promise<Answer>>();
  return (question) => {
    const known = underWay.get(question);
    if (known !== undefined) return known;
    const answer = ask(question).finally(() => underWay.delete(question));
    underWay.set(question, answer);
    return answer;
  };
}

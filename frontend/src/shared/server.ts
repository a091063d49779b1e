/** What a page asks of the server that it comes from. */

/** Ask, or send what is given; throws an `Error` with the words of the server where it refuses. */
export async function ask<Answer>(address: string, sent?: unknown): Promise<Answer> {
  const headers = { "Content-Type": "application/json" };
  const body = sent === undefined ? {} : { method: "POST", headers, body: JSON.stringify(sent) };
  const answer = await fetch(address, { ...body, credentials: "omit" });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** Why there was no answer, in words. */
export function whyNot(error: unknown): string {
  if (error instanceof TypeError) return "the server has ended: start teamworld view again"; // fetch reached nobody
  return error instanceof Error ? error.message : String(error);
}

import { describe, expect, test } from "vitest";
import { waitFor } from "./wait-for.ts";

describe("waiting for a condition", () => {
  test("returns what the condition answered once it holds, also zero and the empty text", async () => {
    let looks = 0;
    const answer = await waitFor(() => (looks++ < 3 ? undefined : { looks }), { intervalMs: 1 });
    expect(answer).toEqual({ looks: 4 });
    expect(await waitFor(() => 0)).toBe(0);
    expect(await waitFor(() => "")).toBe("");
  });

  test("takes an error as not yet", async () => {
    let looks = 0;
    const attempt = (): boolean => {
      looks += 1;
      if (looks < 3) throw new Error("connection refused");
      return true;
    };
    expect(await waitFor(attempt, { intervalMs: 1 })).toBe(true);
  });

  test("says at the end what it waited for, how long, and the last error", async () => {
    const attempt = waitFor(() => Promise.reject(new Error("connection refused")), {
      timeoutMs: 5,
      intervalMs: 1,
      describe: "the server",
    });
    await expect(attempt).rejects.toMatchObject({
      code: "DEADLINE_EXCEEDED",
      message: "waited 5 ms in vain for the server (last error: connection refused)",
    });
  });

  test("ends at once when it is aborted", async () => {
    const abort = new AbortController();
    const attempt = waitFor(() => false, { signal: abort.signal, intervalMs: 60_000 });
    abort.abort(new Error("the test is over"));
    await expect(attempt).rejects.toThrow("the test is over");
  });
});

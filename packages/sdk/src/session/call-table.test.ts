import { describe, expect, it } from "vitest";
import { CallTable, type WireCall } from "./call-table.ts";

const room = { maxBytes: 1_000_000, maxOpenCalls: 1_000 };

function callNamed(method: string, encode: WireCall["encode"] = () => new Uint8Array(1)): WireCall {
  return {
    method,
    traceparent: "",
    credit: 0,
    number: 0,
    encode,
    serverTimeoutMs: () => undefined,
    onResponse: () => undefined,
    onEnd: () => undefined,
    onFailure: () => undefined,
    onBroken: () => undefined,
  };
}

describe("calls that wait to be sent", () => {
  it("are forgotten when they are given up, and the others are sent in their order", () => {
    const table = new CallTable();
    const met = new Set<WireCall>();
    for (const name of ["one", "two"]) {
      table.add(callNamed(name));
      for (let count = 0; count < 500; count += 1) {
        let number = 0;
        const gone = Object.defineProperty(callNamed("gone"), "number", {
          get: () => {
            met.add(gone);
            return number;
          },
          set: (value: number) => {
            number = value;
          },
        });
        table.add(gone);
        table.drop(gone);
      }
    }
    met.clear();
    expect(table.queuedCount).toBe(2);
    expect(table.take(1n, 0, room).map(({ method }) => method)).toEqual(["one", "two"]);
    expect(met.size).toBeLessThan(100);
  });

  it("are sent once each when some turn out to have no request while a message is put together", () => {
    const table = new CallTable();
    const refuse = (): Uint8Array => {
      throw new RangeError("no request");
    };
    const late = callNamed("late");
    table.add(callNamed("first"));
    for (let count = 0; count < 200; count += 1) {
      const call = callNamed("refused", refuse);
      table.add(count < 199 ? call : { ...call, onFailure: () => table.add(late) });
    }
    table.add(callNamed("last"));
    const methods = [1n, 2n].flatMap((number) => table.take(number, 0, room).map(({ method }) => method));
    expect(methods).toEqual(["first", "last", "late"]);
    expect([table.queuedCount, table.openCount]).toEqual([0, 3]);
  });
});

import { Identity, IdentityChange, IdentityLiveness, WatchMarkKind } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { ScriptedSession, unavailable } from "../testing/scripted-session.ts";
import { type InstanceChange, Instances } from "./instances.ts";

const identity = (id: string, liveness: IdentityLiveness = IdentityLiveness.LIVE, token = 1n) =>
  Identity.fromPartial({ id, liveness, token, profile: { component: "worker" } });
const event = (change: IdentityChange, id: string, liveness?: IdentityLiveness) => ({
  events: [{ change, identity: identity(id, liveness), revision: 1n }],
  position: undefined,
});
const synced = { events: [], position: { mark: { kind: WatchMarkKind.SYNCED } } };

describe("instances", () => {
  it("lists every page of the living", async () => {
    const session = new ScriptedSession();
    session.answer = async ({ request }) => {
      const { page, selector } = request as { page: { token: string }; selector: { liveness: readonly number[] } };
      expect(selector.liveness).toEqual([IdentityLiveness.LIVE]);
      return page.token === ""
        ? { identities: [identity("a")], page: { nextToken: "t" } }
        : { identities: [identity("b")], page: { nextToken: "" } };
    };
    const instances = new Instances(session, { component: "worker" }, new AbortController().signal);
    expect((await instances.list()).map(({ id, liveness }) => [id, liveness])).toEqual([
      ["a", "live"],
      ["b", "live"],
    ]);
  });

  it("tells what happened during a break as its result, and repeats nothing", async () => {
    const session = new ScriptedSession();
    const stop = new AbortController();
    const streams = [
      [
        event(IdentityChange.PRESENT, "a"),
        event(IdentityChange.PRESENT, "b"),
        synced,
        event(IdentityChange.JOINED, "c"),
        event(IdentityChange.SILENT, "a", IdentityLiveness.SILENT),
      ],
      [
        event(IdentityChange.PRESENT, "a"),
        event(IdentityChange.PRESENT, "c"),
        event(IdentityChange.PRESENT, "d"),
        synced,
        event(IdentityChange.LEFT, "c", IdentityLiveness.GONE),
      ],
    ];
    session.streaming = async function* () {
      yield* streams.shift() ?? [];
      throw unavailable();
    };
    const told: string[] = [];
    const watching = (async () => {
      const instances = new Instances(session, {}, new AbortController().signal);
      for await (const { change, instance } of instances.watch({
        signal: stop.signal,
      }) as AsyncIterable<InstanceChange>) {
        told.push(`${instance.id} ${change}`);
        if (told.length === 8) stop.abort();
      }
    })();
    while (!stop.signal.aborted) {
      await new Promise((resolve) => setImmediate(resolve));
      await session.clock.advance(1_000);
    }
    await watching;
    expect(told).toEqual(["a present", "b present", "c joined", "a silent", "a live", "d joined", "b left", "c left"]);
  });
});

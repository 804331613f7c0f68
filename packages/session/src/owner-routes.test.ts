import { OwnerBeat } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { followOwnerBeats } from "./owner-beats.ts";
import { OwnerRoutes } from "./owner-routes.ts";

describe("OwnerRoutes", () => {
  it("names the newest owner and takes no older one for it", () => {
    const routes = new OwnerRoutes(8);
    expect(routes.routeOf(3)).toBeUndefined();
    routes.note(3, 7n);
    routes.note(3, 6n);
    expect([routes.routeOf(3), routes.epochOf(3)]).toEqual(["3.7", 7n]);
    routes.note(3, 9n);
    expect(routes.routeOf(3)).toBe("3.9");
  });

  it("forgets an owner that does not answer until it is heard of again, and never goes back to one before it", () => {
    const routes = new OwnerRoutes(8);
    routes.note(3, 7n);
    routes.drop(3, 6n);
    expect(routes.routeOf(3)).toBe("3.7");
    routes.drop(3, 7n);
    routes.note(3, 6n);
    expect(routes.routeOf(3)).toBeUndefined();
    routes.note(3, 7n);
    expect(routes.routeOf(3)).toBe("3.7");
  });

  it("tells of another owner once, and not of one that came back", () => {
    const routes = new OwnerRoutes(8);
    const told: string[] = [];
    const unfollow = routes.onChange((partition, epoch) => told.push(`${partition}.${epoch}`));
    routes.note(1, 4n);
    routes.note(1, 4n);
    routes.drop(1, 4n);
    routes.note(1, 4n);
    routes.note(1, 5n);
    unfollow();
    routes.note(1, 6n);
    expect(told).toEqual(["1.4", "1.5"]);
  });
});

describe("followOwnerBeats", () => {
  function wire() {
    let listener: (payload: Uint8Array) => void = () => {};
    const bus = {
      subscribe(_subject: string, added: (payload: Uint8Array, subject: string) => void) {
        listener = (payload) => added(payload, "");
        return () => {
          listener = () => {};
        };
      },
    };
    const beat = (incarnationId: string, owned: OwnerBeat["owned"], partitions = 8) =>
      listener(OwnerBeat.encode(OwnerBeat.fromPartial({ incarnationId, owned, partitions })).finish());
    return { bus, beat };
  }

  it("learns the owners and the number of partitions, of one incarnation only", async () => {
    const routes = new OwnerRoutes();
    const { beat, bus } = wire();
    const unfollow = followOwnerBeats(bus, routes);
    beat("one", [{ partition: 2, epoch: 5n }]);
    beat("two", [{ partition: 2, epoch: 50n }], 16);
    await routes.whenKnown();
    expect([routes.partitions, routes.routeOf(2)]).toEqual([8, "2.5"]);
    unfollow();
    beat("one", [{ partition: 2, epoch: 6n }]);
    expect(routes.routeOf(2)).toBe("2.5");
  });

  it("ignores all beats but those of the incarnation that it is told", () => {
    const routes = new OwnerRoutes(8);
    const { beat, bus } = wire();
    followOwnerBeats(bus, routes, "mine");
    beat("other", [{ partition: 1, epoch: 5n }]);
    beat("mine", [{ partition: 2, epoch: 5n }]);
    expect([routes.routeOf(1), routes.routeOf(2)]).toEqual([undefined, "2.5"]);
  });
});

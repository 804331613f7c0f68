import { encodeRenewals, type SessionPush, TermEndReason } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { FollowedNews } from "./followed-news.ts";
import { packedGroups } from "./renewal-groups.ts";

const lease = "billing/scheduler";
const key = { namespace: "billing", name: "scheduler" };

/** A client that has renewed hold 7, the term with token 40, and what it follows and hears. */
function renewing() {
  const told: { listener: (push: SessionPush) => void; onRunning: (tokens: ReadonlySet<bigint>) => void }[] = [];
  const pushes: string[] = [];
  const over: string[] = [];
  let following = 0;
  const news = {
    follow: (_: string, listener: (push: SessionPush) => void, onRunning: (tokens: ReadonlySet<bigint>) => void) => {
      following += 1;
      told.push({ listener, onRunning });
      return () => {
        following -= 1;
      };
    },
    termOf: () => ({ lease, token: 40n, principal: "me" }),
  };
  const followed = new FollowedNews(news, "me", {
    push: ({ push }) => pushes.push(push?.$case ?? ""),
    onTermOver: (name) => over.push(name),
  });
  const renew = () => {
    for (const group of packedGroups(encodeRenewals([{ partition: 1, sendNumber: 5, holdIds: [7] }]))) {
      followed.onRenewal(group);
    }
  };
  renew();
  return { told, pushes, over, renew, following: () => following };
}

describe("the news of a client's terms", () => {
  it("are heard until the term has ended", () => {
    const { following, over, pushes, told } = renewing();
    expect(following()).toBe(1);
    const value = { lease: key, token: 40n, endReason: TermEndReason.RELEASED, note: "" };
    told[0]?.listener({ push: { $case: "termEnded", value } });
    expect([pushes, over, following()]).toEqual([["termEnded"], ["1.7"], 0]);
  });

  it("end with a term that had ended before its lease was heard of, which nobody tells as ended", () => {
    const { following, over, pushes, renew, told } = renewing();
    told[0]?.onRunning(new Set([40n, 41n]));
    expect(following()).toBe(1);
    told[0]?.onRunning(new Set([41n]));
    expect([pushes, over, following()]).toEqual([[], ["1.7"], 0]);
    renew();
    expect(following(), "one that is renewed all the same is heard of again").toBe(1);
  });
});

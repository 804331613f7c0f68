import { hostname } from "node:os";
import { type Random, randomBase58 } from "@tenure/kernel";

/** Longest host name that goes into a holder's identity, so that all of it fits into 253 bytes. */
const longestHostName = 200;

/** An identity that no other running process has: host, process id and six random digits. */
export function makeHolderId(random: Random): string {
  const host = hostname().slice(0, longestHostName) || "host";
  return `${host}_${process.pid}_${randomBase58(random, 6)}`;
}

import { describe, expect, test } from "vitest";
import { mirrorsOfTargets, mirrorsOfUris } from "./mirrors.ts";

describe("the mirrors of a machine", () => {
  test("are those of the distribution itself, once each, without its security archive", () => {
    const output = [
      "Debian|http://mirror.example/debian/|bookworm",
      "Debian|http://mirror.example/debian/|bookworm-updates",
      "Debian|http://mirror.example/debian-security/|bookworm-security",
      "Docker|https://other.example/linux/debian/|bookworm",
      "Debian|cdrom://disc/|bookworm",
      "",
    ].join("\n");
    expect(mirrorsOfTargets(output, "Debian")).toEqual(["http://mirror.example/debian"]);
  });

  test("are read from the sources where no list was ever downloaded", () => {
    const output = [
      "'http://mirror.example/ubuntu/dists/noble/InRelease' mirror.example_InRelease 0 ",
      "'http://mirror.example/ubuntu/dists/noble-updates/InRelease' mirror.example_InRelease 0 ",
      "'http://mirror.example/ubuntu/dists/noble/main/binary-amd64/Packages.xz' mirror.example_Packages 0 ",
      "'http://security.example/ubuntu/dists/noble-security/InRelease' security.example_InRelease 0 ",
    ].join("\n");
    expect(mirrorsOfUris(output, "noble")).toEqual(["http://mirror.example/ubuntu"]);
  });

  test("are none where apt says nothing", () => {
    expect(mirrorsOfTargets("", "Debian")).toEqual([]);
    expect(mirrorsOfUris("", "bookworm")).toEqual([]);
  });
});

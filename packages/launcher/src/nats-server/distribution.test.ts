import { describe, expect, test } from "vitest";
import { distributionOf, parseOsRelease } from "./distribution.ts";

describe("an os-release file", () => {
  test("is read with and without quotes, comments left out", () => {
    const text = "NAME=\"Debian GNU/Linux\"\nID=debian\n# a comment\nVERSION_ID='12'\n\n";
    expect(parseOsRelease(text)).toEqual({ NAME: "Debian GNU/Linux", ID: "debian", VERSION_ID: "12" });
  });

  test.each([
    ["ID=debian\nVERSION_CODENAME=bookworm", "debian", "bookworm"],
    ["ID=raspbian\nID_LIKE=debian\nVERSION_CODENAME=trixie", "debian", "trixie"],
    ["ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble", "ubuntu", "noble"],
    ['ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble', "ubuntu", "noble"],
  ])("%j names the family %s and the series %s", (text, family, codename) => {
    expect(distributionOf(text)).toMatchObject({ family, codename });
  });

  test.each(["ID=fedora", "ID=alpine\nID_LIKE=", ""])("%j has no packages that can be unpacked", (text) => {
    expect(distributionOf(text)).toBeUndefined();
  });

  test("gives the newest suites first, and the machine's own series last when it is an older one", () => {
    expect(distributionOf("ID=debian")?.suites).toEqual(["unstable", "testing", "stable"]);
    expect(distributionOf("ID=ubuntu\nVERSION_CODENAME=jammy")?.suites.at(0)).toBe("devel");
    expect(distributionOf("ID=ubuntu\nVERSION_CODENAME=jammy")?.suites.at(-1)).toBe("jammy");
  });
});

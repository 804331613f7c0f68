/** A distribution whose packages can be unpacked here. */
export interface Distribution {
  readonly family: "debian" | "ubuntu";
  /** As `Origin` in the archive's Release files. */
  readonly origin: "Debian" | "Ubuntu";
  /** The series that the machine runs, for example `bookworm`; empty when it does not say. */
  readonly codename: string;
  /** Suites from the newest to the oldest. */
  readonly suites: readonly string[];
  readonly component: string;
  /** The distribution's own keyring; the first that exists is used. */
  readonly keyrings: readonly string[];
  /** Used when the machine's own sources name no mirror. */
  readonly defaultMirror: string;
}

type OsRelease = Readonly<Record<string, string>>;

/** The fields of an `/etc/os-release` file. */
export function parseOsRelease(text: string): OsRelease {
  const fields: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const match = /^([A-Z_]+)=(.*)$/.exec(line.trim());
    if (match?.[1] !== undefined) fields[match[1]] = (match[2] ?? "").replace(/^(["'])(.*)\1$/, "$2");
  }
  return fields;
}

/**
 * The distribution that an os-release file describes; a derivative counts as what it is like. `undefined` where apt is
 * not at home.
 */
export function distributionOf(osRelease: string): Distribution | undefined {
  const fields = parseOsRelease(osRelease);
  const names = [fields.ID ?? "", ...(fields.ID_LIKE ?? "").split(/\s+/)];
  if (names.includes("ubuntu")) return ubuntu(fields.UBUNTU_CODENAME ?? fields.VERSION_CODENAME ?? "");
  if (names.includes("debian")) return debian(fields.VERSION_CODENAME ?? "");
  return undefined;
}

function debian(codename: string): Distribution {
  return {
    family: "debian",
    origin: "Debian",
    codename,
    suites: ["unstable", "testing", "stable"],
    component: "main",
    keyrings: ["/usr/share/keyrings/debian-archive-keyring.gpg", "/usr/share/keyrings/debian-archive-keyring.pgp"],
    defaultMirror: "http://deb.debian.org/debian",
  };
}

function ubuntu(codename: string): Distribution {
  // `devel` is the archive's own name for the series in development; the others are the supported ones, newest first.
  const suites = ["devel", "resolute", "questing", "noble"];
  return {
    family: "ubuntu",
    origin: "Ubuntu",
    codename,
    suites: codename === "" || suites.includes(codename) ? suites : [...suites, codename],
    component: "universe",
    keyrings: ["/usr/share/keyrings/ubuntu-archive-keyring.gpg"],
    defaultMirror: "http://archive.ubuntu.com/ubuntu",
  };
}

import { redactLogins } from "@tenure/kernel";

/**
 * Names whose values never belong in a log. A fencing token is not among them: it is a number that everyone may see.
 */
export const secretNames: readonly string[] = [
  "password",
  "secret",
  "seed",
  "nkeySeed",
  "renewKey",
  "authorization",
  "cookie",
  "privateKey",
];

/** The paths that pino censors: each secret name at the top of a line and one level down. */
export const secretPaths: readonly string[] = secretNames.flatMap((name) => [name, `*.${name}`]);

/** What stands in a line for what was taken out. */
export const censored = "[redacted]";

/** Secrets shorter than this are not searched for in text: they would blank out ordinary words and numbers. */
const shortestSecret = 8;

/**
 * Takes known secret values and the logins of URLs out of finished lines, wherever they got in: an error text of a
 * library, a configuration that was logged whole. JSON escapes are considered.
 */
export function censor(secrets: Iterable<string>): (line: string) => string {
  const needles = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < shortestSecret) continue;
    needles.add(secret);
    needles.add(JSON.stringify(secret).slice(1, -1));
  }
  // The longest first, so that no secret is cut by one that it contains.
  const ordered = [...needles].sort((left, right) => right.length - left.length);
  return (line) => ordered.reduce((text, needle) => text.replaceAll(needle, censored), redactLogins(line));
}

/** The passwords inside URLs such as `nats://user:password@host`, both as written and decoded. */
export function urlPasswords(urls: readonly string[]): readonly string[] {
  return urls.flatMap((url) => {
    const password = URL.canParse(url) ? new URL(url).password : "";
    if (password === "") return [];
    return [password, decodeOrKeep(password)];
  });
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A stray percent sign: the written form is the password.
  }
}

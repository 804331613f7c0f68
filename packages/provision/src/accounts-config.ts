import { permissionsOf } from "./permissions.ts";
import { type User, users } from "./topology.ts";

/** The account of the product's own traffic. */
export const productAccount = "TENURE";

/** The account that only reads the servers' state. */
export const systemAccount = "SYS";

/** A user and its public key. */
export interface AccountUser {
  readonly user: User;
  readonly publicKey: string;
}

/**
 * The part of a nats-server configuration that says who may do what: the two accounts, their users by public key, and
 * `system_account`. There is no `no_auth_user`: whoever has no key gets nothing. Holds no secret.
 */
export function renderAccounts(credentials: readonly AccountUser[]): string {
  const keys = new Map(credentials.map(({ user, publicKey }) => [user, publicKey]));
  const rendered = (user: User): string[] => {
    const key = keys.get(user);
    return key === undefined ? [] : [renderUser(user, key)];
  };
  return [
    "# Written by `tenure-provision credentials`: the public keys of the users and what each may do.",
    "accounts {",
    `  ${systemAccount} {`,
    "    users: [",
    ...rendered("system"),
    "    ]",
    "  }",
    `  ${productAccount} {`,
    "    jetstream: enabled",
    "    users: [",
    ...users.filter((user) => user !== "system").flatMap(rendered),
    "    ]",
    "  }",
    "}",
    `system_account: ${systemAccount}`,
    "",
  ].join("\n");
}

function renderUser(user: User, publicKey: string): string {
  const { publish, subscribe } = permissionsOf(user);
  return [
    `      # ${user}`,
    "      {",
    `        nkey: ${publicKey}`,
    "        permissions {",
    "          publish {",
    `            allow: [${list(publish)}]`,
    "          }",
    "          subscribe {",
    `            allow: [${list(subscribe)}]`,
    "          }",
    "        }",
    "      }",
  ].join("\n");
}

function list(subjects: readonly string[]): string {
  const lines = [...new Set(subjects)].map((subject) => `              ${JSON.stringify(subject)}`);
  return `\n${lines.join("\n")}\n            `;
}

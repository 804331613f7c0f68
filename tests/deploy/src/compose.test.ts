import { users } from "@tenure/provision";
import { describe, expect, it } from "vitest";
import { type ComposeService, mountsOf, networksOf, readCompose } from "./compose-file.ts";
import { productVersion, serviceNames } from "./repository.ts";

const compose = readCompose("deploy/compose.yaml");
const all = Object.entries(compose.services);
const isOnce = ([, service]: readonly [string, ComposeService]) => service.restart === "no";
const natsServers = ["nats-1", "nats-2", "nats-3"];

/** A compose service that must be there. */
function serviceOf(name: string): ComposeService {
  const service = compose.services[name];
  if (service === undefined) throw new Error(`compose.yaml has no service ${name}`);
  return service;
}

/** Everything that a service waits for, directly or through another. */
function waitsFor(name: string): Set<string> {
  const direct = Object.keys(serviceOf(name).depends_on ?? {});
  return new Set(direct.flatMap((each) => [each, ...waitsFor(each)]));
}

it("is what the file at the repository's root includes, under the same project name", () => {
  const main = readCompose("compose.yaml");
  expect(main.include).toEqual([{ path: "deploy/compose.yaml" }]);
  expect(main.name).toBe(compose.name);
});

it("runs every service of the repository by its name", () => {
  for (const name of serviceNames()) expect(serviceOf(name).command, name).toEqual([name]);
});

describe.each(all)("%s", (name, service) => {
  it("has no privilege to lose", () => {
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(["ALL"]);
    expect(service.cap_add).toBeUndefined();
    expect(service.privileged).toBeUndefined();
    expect(service.security_opt).toEqual(["no-new-privileges:true"]);
    expect(service.network_mode ?? "none").toBe("none");
  });

  it("does not run as root", () => {
    expect(service.user).toMatch(/^[1-9]\d*:\d+$/);
  });

  it("has bounded memory, processes, temporary space and logs", () => {
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    expect(service.pids_limit).toBeGreaterThan(0);
    expect(service.tmpfs).toEqual([expect.stringMatching(/^\/tmp:.*size=\d+m/)]);
    expect(service.logging?.options).toMatchObject({ "max-size": expect.any(String), "max-file": expect.any(String) });
  });

  it("can be started any number of times under names that compose chooses", () => {
    expect(service.container_name).toBeUndefined();
  });

  it("either runs once or stays up with a health check", () => {
    if (isOnce([name, service])) {
      expect(service.healthcheck).toEqual({ disable: true });
    } else {
      expect(service.restart).toBe("unless-stopped");
      expect(service.healthcheck?.test?.[0]).toBe("CMD");
    }
  });

  it("waits only for health or for a finished run", () => {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const expected = isOnce([other, serviceOf(other)]) ? "service_completed_successfully" : "service_healthy";
      expect(condition, `${name} waits for ${other}`).toBe(expected);
    }
  });

  it("publishes ports on the loopback address alone", () => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it("mounts only volumes that the file declares, or files of the deploy folder read-only", () => {
    for (const { source, isReadOnly } of mountsOf(service)) {
      if (source.startsWith("./")) expect(isReadOnly, source).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
  });
});

describe("start order", () => {
  it("leads from credentials over NATS, init and the services to the one published address", () => {
    for (const nats of natsServers) expect(waitsFor(nats)).toEqual(new Set(["credentials"]));
    expect(waitsFor("init")).toEqual(new Set(["credentials", ...natsServers]));
    for (const name of serviceNames()) expect(waitsFor(name), name).toContain("init");
    const others = serviceNames().filter((name) => name !== "gateway");
    expect(waitsFor("gateway")).toEqual(new Set(["credentials", "init", ...natsServers, ...others]));
    expect(waitsFor("front")).toEqual(new Set(["credentials", "init", ...natsServers, ...serviceNames()]));
  });
});

describe("credentials", () => {
  it.each(serviceNames())("lets %s read the seeds that it connects with, and no other", (name) => {
    const service = serviceOf(name);
    const seeds = name === "lease-store" ? [name, "compactor", "system"] : [name, "system"];
    expect(mountsOf(service)).toEqual(
      seeds.map((user) => ({ source: `seed-${user}`, target: `/credentials/${user}`, isReadOnly: true })),
    );
    expect(service.environment).toMatchObject({
      TENURE_NATS_NKEY_FILE: `/credentials/${name}/${name}.nk`,
      TENURE_NATS_SYSTEM_NKEY_FILE: "/credentials/system/system.nk",
    });
  });

  it("lets the lease store purge as the user that may do nothing else", () => {
    expect(serviceOf("lease-store").environment).toMatchObject({
      TENURE_COMPACTOR_NKEY_FILE: "/credentials/compactor/compactor.nk",
    });
  });

  it("places the seed of every user that somebody connects as", () => {
    const placed = mountsOf(serviceOf("credentials")).map(({ source }) => source);
    for (const user of users.map((name) => `seed-${name}`)) expect(placed).toContain(user);
  });

  it.each(natsServers)("lets %s read the accounts and no seed", (name) => {
    expect(mountsOf(serviceOf(name))).toEqual([
      { source: name, target: "/data", isReadOnly: false },
      { source: "nats-accounts", target: "/etc/nats/accounts", isReadOnly: true },
    ]);
  });

  it("keeps the folder with all seeds to the container that makes them, which has no network", () => {
    const holders = all.filter(([, service]) => mountsOf(service).some(({ source }) => source === "credentials"));
    expect(holders.map(([name]) => name)).toEqual(["credentials"]);
    expect(serviceOf("credentials").network_mode).toBe("none");
  });

  it("puts no secret into an environment variable or an argument", () => {
    for (const [name, { environment = {}, command = [] }] of all) {
      expect([...Object.keys(environment), ...command].join(" "), name).not.toMatch(/password|secret|token|seed/i);
    }
  });
});

describe("networks", () => {
  it("lets only NATS servers reach the routes between them", () => {
    const members = all.filter(([, service]) => networksOf(service).includes("routes")).map(([name]) => name);
    expect(members).toEqual(natsServers);
    expect(compose.networks.routes?.internal).toBe(true);
  });

  it("keeps the bus and the gateways' unencrypted listeners away from the outside", () => {
    expect(compose.networks.bus?.internal).toBe(true);
    expect(compose.networks.entry?.internal).toBe(true);
    expect(networksOf(serviceOf("gateway"))).toEqual(["bus", "entry"]);
    const members = all.filter(([, service]) => networksOf(service).includes("entry")).map(([name]) => name);
    expect(members).toEqual(["gateway", "front", "tenure"]);
  });

  it("joins what is published, and nothing else, to the network that leads outside", () => {
    const published = all.filter(([, service]) => service.ports !== undefined).map(([name]) => name);
    const members = all.filter(([, service]) => networksOf(service).includes("edge")).map(([name]) => name);
    expect(members).toEqual(published);
  });
});

describe("images", () => {
  const version = productVersion();
  const own = [`\${TENURE_IMAGE:-tenure:${version}}`, `\${TENURE_NATS_IMAGE:-tenure-nats:${version}}`];

  it("of the project carry its version, are never looked for in a registry, and are built by one service each", () => {
    for (const image of own) {
      const users = all.map(([, service]) => service).filter((service) => service.image === image);
      expect(users.filter(({ build }) => build !== undefined)).toHaveLength(1);
      expect(new Set(users.map((service) => service.pull_policy))).toEqual(new Set(["never"]));
    }
  });

  it("of others are named with an exact version", () => {
    const others = all.map(([, service]) => service.image).filter((image) => !own.includes(image));
    for (const image of others) expect(image).toMatch(/^[a-z/]+:v?\d+\.\d+\.\d+$/);
  });
});

it("runs production mode with three NATS servers and three copies of every stream", () => {
  for (const name of [...serviceNames(), "init"]) {
    expect(serviceOf(name).environment, name).toMatchObject({
      TENURE_MODE: "production",
      TENURE_NATS_URL: natsServers.map((server) => `nats://${server}:4222`).join(","),
    });
  }
  expect(serviceOf("init").command).toEqual(["provision", "init", "--replicas", "3"]);
});

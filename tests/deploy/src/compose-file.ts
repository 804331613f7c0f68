import { parse } from "yaml";
import { readText } from "./repository.ts";

/** What a service waits for before it starts. */
export type Condition = "service_healthy" | "service_completed_successfully" | "service_started";

/** The part of a compose service that these tests look at. */
export interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string; readonly target: string };
  readonly pull_policy?: string;
  readonly user?: string;
  readonly command?: readonly string[];
  readonly read_only?: boolean;
  readonly privileged?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly restart?: string;
  readonly network_mode?: string;
  readonly networks?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly container_name?: string;
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly logging?: { readonly driver: string; readonly options: Readonly<Record<string, string>> };
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly depends_on?: Readonly<Record<string, { readonly condition: Condition }>>;
}

/** The part of a compose file that these tests look at. */
export interface ComposeFile {
  readonly name: string;
  readonly include?: readonly { readonly path: string }[];
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** Reads a compose file of the repository, with its merge keys applied. */
export function readCompose(path: string): ComposeFile {
  return parse(readText(path), { merge: true }) as ComposeFile;
}

/** The networks that a service is on. */
export function networksOf(service: ComposeService): readonly string[] {
  const networks = service.networks ?? [];
  return Array.isArray(networks) ? networks : Object.keys(networks);
}

/** The named volumes and bind mounts of a service: where from, where to, and whether it may only read. */
export function mountsOf(service: ComposeService) {
  return (service.volumes ?? []).map((text) => {
    const [source = "", target = "", mode = ""] = text.split(":");
    return { source, target, isReadOnly: mode === "ro" };
  });
}

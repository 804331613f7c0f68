export { type AccountUser, productAccount, renderAccounts, systemAccount } from "./accounts-config.ts";
export { type Credential, createCredentials } from "./credentials.ts";
export { type InitializeInput, initialize } from "./initialize.ts";
export { type NatsClusterInput, type NatsConfigInput, renderNatsConfig } from "./nats-config.ts";
export { type Permissions, permissionsOf } from "./permissions.ts";
export { type ServiceUser, serviceUsers, type User, users } from "./topology.ts";

export { coordinatedCampaign } from "./coordinated-campaign.ts";
export type { CoordinatedOptions, StrategyInput } from "./coordinated-options.ts";

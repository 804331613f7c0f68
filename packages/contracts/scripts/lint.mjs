import { buf } from "./buf.mjs";

buf("format", "--diff", "--exit-code");
buf("lint");
buf("breaking", "--against", "baseline.binpb");

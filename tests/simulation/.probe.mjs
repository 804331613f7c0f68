import { Coordination } from "@tenure/election/coordinator";
import { World } from "./dist/world.js";
import { scheduleOf } from "./dist/run.js";
import { profiles } from "./dist/profile.js";
let all=[]; const b=Coordination.prototype.begin; Coordination.prototype.begin=function(){ all.push(this); return b.call(this); };
let seedsWith=0, steps=0; const bad=[];
for (const seed of [2,4,15,23,36,39,1,3,5,6,7,8,9,10,11,12]) { all=[]; const s=scheduleOf(seed, profiles.coordination); const w=new World(s,{}); w.begin(); let over=0; while (await w.time.step(s.endMs)) { if (all.length>1 && all.reduce((n,c)=>n+c.shards,0) > 2) over++; } w.oracles.court.examine(()=>w.crew.expectQuiet()); if(over) { seedsWith++; console.log(seed, over);} steps+=over; if (w.oracles.court.violation) bad.push(seed+": "+w.oracles.court.violation.message); }
console.log({seedsWith, steps, bad});

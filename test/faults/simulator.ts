import { twoReads } from '../../src/pipeline/watch/arming.ts';
import { oneRead } from './simulator/one-read.ts';
import { runSchedules } from './simulator/schedule.ts';

// node dist/test/faults/simulator.js [SCHEDULES] [STEPS] [FIRST SEED] [one-read]

const [schedules = 10_000, steps = 600, first = 1] = process.argv.slice(2, 5).map(Number);
const rule = process.argv[5] === 'one-read' ? oneRead : twoReads;
const startedMs = performance.now();
const outcome = await runSchedules(first, first + schedules, steps, rule);
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
console.log(JSON.stringify({ schedules, steps, seconds, ...outcome }));
process.exitCode = outcome.falseAnswers + outcome.regressions + outcome.alarms === 0 ? 0 : 1;

export { formatSpan } from './format/figures.ts';
export { type HealthReport, healthSentence } from './live/health.ts';
export { afterEvent, describeView, isCurrent, isOld, type LineEvent, newLine, viewOf } from './live/state.ts';
export { SlotStrip } from './plot/slot-strip.ts';

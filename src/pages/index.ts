export { afterEvent, describeView, isCurrent, isOld, type LineEvent, newLine, viewOf } from './live/state.ts';

import { StartError } from '../shared/domain/start-error.ts';

export function checkNodeVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    throw new StartError(1, `this is Node ${version}, and slotgate needs Node 20.19 or newer`);
}

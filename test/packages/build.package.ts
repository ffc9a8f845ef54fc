import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';

t.test('build', async (t) => {
  const ROOT = fileURLToPath(new URL('../../../', import.meta.url)); // from dist/test/packages

  /** A small project with the build and the compiler of this one, without the types of Node, which take longest to read. */
  class Project {
    readonly #root: string;

    constructor(t: Test) {
      this.#root = t.testdir({ src: { page: {} }, '.ci': {}, node_modules: {} });
      cpSync(join(ROOT, '.ci/build.mjs'), this.path('.ci/build.mjs'));
      const settings = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
      Object.assign(settings.compilerOptions, { types: [] });
      this.write('tsconfig.json', JSON.stringify(settings));
      this.write('src/console.d.ts', 'declare const console: { log(text: string): void };\n');
      for (const name of ['typescript', '@typescript']) {
        const installed = join(ROOT, 'node_modules', name);
        if (existsSync(installed)) symlinkSync(installed, this.path(`node_modules/${name}`));
      }
      const { bin, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
      const { prepare } = scripts;
      this.write(
        'package.json',
        JSON.stringify({ name: 'slotgate', version: '1.2.3', type: 'module', bin, scripts: { prepare } }),
      );
      this.write('src/main.ts', "#!/usr/bin/env node\nconsole.log((await import('./version.ts')).version);\n");
      this.write('src/version.ts', "export const version: string = '1';\n");
      this.write('src/other.ts', 'export const other = 1;\n');
    }

    path(file: string): string {
      return join(this.#root, file);
    }

    write(file: string, text: string): void {
      mkdirSync(join(this.path(file), '..'), { recursive: true });
      writeFileSync(this.path(file), text);
    }

    /** Identifies what is at a path in the build: the file, and when it was written. */
    identify(file: string): string {
      const { ino, mtimeMs } = statSync(this.path(`dist/${file}`));
      return `${ino} ${mtimeMs}`;
    }

    run(command: string, ...args: readonly string[]) {
      const env = { ...process.env, npm_config_cache: this.path('npm-cache'), npm_config_offline: 'true' };
      return spawnSync(command, args, { cwd: this.#root, encoding: 'utf8', env });
    }

    build() {
      return this.run(process.execPath, '.ci/build.mjs');
    }
  }

  t.test('a build replaces what has changed and touches nothing else', async (t) => {
    const project = new Project(t);
    t.equal(project.build().status, 0);
    t.equal(statSync(project.path('dist/src/main.js')).mode & 0o111, 0o111, 'the command can be run');
    t.equal(project.run(project.path('dist/src/main.js')).stdout, '1\n');
    const [main, version] = [project.identify('src/main.js'), project.identify('src/version.js')];

    t.equal(project.build().status, 0);
    t.equal(project.identify('src/version.js'), version, 'nothing has changed');

    project.write('src/version.ts', "export const version: string = '2';\n");
    rmSync(project.path('src/other.ts'));
    project.write('dist/client/shared-BEFORE.js', '');
    t.equal(project.build().status, 0);
    t.equal(project.run(project.path('dist/src/main.js')).stdout, '2\n');
    t.equal(project.identify('src/main.js'), main);
    t.notOk(existsSync(project.path('dist/src/other.js')), 'its source was removed');
    t.notOk(existsSync(project.path('dist/client/shared-BEFORE.js')), 'a chunk of an older build');

    project.write('src/version.ts', 'export const version: string = 3;\n');
    const failed = project.build();
    t.equal(failed.status, 1);
    t.match(failed.stdout + failed.stderr, /version\.ts.*nothing in dist\/ was changed/s);
    t.equal(project.run(project.path('dist/src/main.js')).stdout, '2\n', 'the last good build');

    rmSync(project.path('dist/src/main.js'));
    project.write('src/version.ts', "export const version: string = '2';\n");
    t.equal(project.build().status, 0);
    t.equal(project.run(project.path('dist/src/main.js')).stdout, '2\n', 'a file that was lost is made again');
  });

  t.test('npx runs what is built, also the first time in a clone, and builds only if nothing is', async (t) => {
    const project = new Project(t);
    const npx = () => project.run('npx', 'slotgate');
    t.equal(npx().stdout, '1\n', 'there was no build');
    const main = project.identify('src/main.js');
    rmSync(project.path('npm-cache'), { recursive: true });
    project.write('src/version.ts', "export const version: string = '2';\n");
    t.equal(npx().stdout, '1\n');
    t.equal(project.identify('src/main.js'), main);
    t.equal(project.build().status, 0);
    t.equal(npx().stdout, '2\n', 'after a build too');
  });
});

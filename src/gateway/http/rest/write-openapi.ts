import { writeFileSync } from 'node:fs';
import { version } from '../../../shared/runtime/package.ts';
import { routes } from '../../routes/index.ts';
import { createOpenApiDocument } from './openapi.ts';

// Run by the build after the compiler: writes the OpenAPI document into the file that is named, for the pages.

const [, , target = ''] = process.argv;
writeFileSync(target, JSON.stringify(createOpenApiDocument(routes, version)));

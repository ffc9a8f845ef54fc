// Writes src/solana/programs/program-instruction-table.ts from the files in generation/sources. Run it by hand in the
// root of the repository after a change of a source: node dist/src/solana/programs/generation/generate-program-instructions.js
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { formatInstructionTable } from './instruction-sources.ts';

const FOLDER = 'src/solana/programs';
const files = readdirSync(`${FOLDER}/generation/sources`).sort();
const sources = files.map((file) => readFileSync(`${FOLDER}/generation/sources/${file}`, 'utf8'));
writeFileSync(`${FOLDER}/program-instruction-table.ts`, formatInstructionTable(sources));

// Writes test/vectors/attestation.json anew, with other signatures: `npx tsx scripts/attestationVectors.ts`.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { BASE, ROOT } from './attestation/base.js'
import { CASES } from './attestation/cases.js'

const ABOUT =
  'A vector changes members of the base. Its verifier trusts the root, or the one that the vector names, expects the origin that it names, and ends with the outcome, and the code or the measurement.'

const file = fileURLToPath(new URL('../test/vectors/attestation.json', import.meta.url))
writeFileSync(file, JSON.stringify({ about: ABOUT, root: ROOT, base: BASE, vectors: CASES }, null, 2))
execFileSync('npx', ['biome', 'format', '--write', file])

// Writes test/vectors/attestation.json and attestationTdx.json anew, with other signatures: `npx tsx scripts/attestationVectors.ts`.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as nitro from './attestation/base.js'
import { CASES } from './attestation/cases.js'
import * as tdx from './attestation/tdx/cases.js'

const ABOUT =
  'A vector changes members of the base. Its verifier trusts the root, or the one that the vector names, expects the origin that it names, and ends with the outcome, and the code or the measurement.'

write('attestation', { root: nitro.ROOT, base: nitro.BASE, vectors: CASES })
write('attestationTdx', { root: tdx.ROOT, base: tdx.BASE, vectors: tdx.CASES })

function write(name: string, vectors: object): void {
  const file = fileURLToPath(new URL(`../test/vectors/${name}.json`, import.meta.url))
  writeFileSync(file, JSON.stringify({ about: ABOUT, ...vectors }, null, 2))
  execFileSync('npx', ['biome', 'format', '--write', file])
}

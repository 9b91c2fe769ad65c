// What a command is given as a file of JSON. A policy is one.
import { readFileSync } from 'node:fs'
import { type AcceptedProgram, checkPolicy } from '../../attestation/policy.js'
import { JsonError, parseStrictJson } from '../../protocol/strictJson.js'
import { usage } from '../../terminal/failure.js'

/** @throws CommandError `usage` for a file that is no policy */
export function readPolicy(path: string): readonly AcceptedProgram[] {
  const programs = readJsonFile(path)
  try {
    checkPolicy(programs)
    return programs
  } catch {
    throw usage(
      `${path} is no policy: expected the list of programs of docs/attestation.md, each of them pinned`,
    )
  }
}

/** @throws CommandError `usage` for text that is no JSON, or has a member twice */
export function readJsonFile(path: string, read: (path: string) => Buffer | string = readText): unknown {
  const text = read(path).toString()
  try {
    return parseStrictJson(text)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw usage(`${path}: ${error.message}`)
  }
}

function readText(path: string): string {
  return readFileSync(path, 'utf8')
}

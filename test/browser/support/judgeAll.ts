// Runs in a page.
import { judge } from '../../../src/attestation/judge.js'
import { createStartingVerifier } from '../../../src/attestation/starting.js'
import { BORN } from '../../../src/attestation/statement.js'
import { dstackBelow } from '../../../src/attestation/tdx/index.js'
import { createVerifier } from '../../../src/attestation/verify.js'

/** An input of `judge`, the root that it trusts, and what it expects of the statement's origin. */
export interface Judging {
  readonly root: string
  readonly origin?: 'starting' | undefined
  readonly [part: string]: unknown
}

export interface Judged {
  readonly outcome: string
  readonly code: string | null
  readonly ms: number
}

/** Judges the inputs one after another. */
export async function judgeAll(inputs: readonly Judging[]): Promise<Judged[]> {
  const judged: Judged[] = []
  for (const { root, origin, ...input } of inputs) {
    const start = performance.now()
    const found =
      origin === 'starting'
        ? await judge(createStartingVerifier(root), input)
        : await judge(createVerifier(BORN, root, undefined, dstackBelow(root)), input)
    const code = 'code' in found ? found.code : null
    judged.push({ outcome: found.outcome, code, ms: performance.now() - start })
  }
  return judged
}

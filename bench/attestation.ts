import { judge } from '../src/attestation/judge.js'
import { BORN } from '../src/attestation/statement.js'
import { dstackBelow } from '../src/attestation/tdx/index.js'
import { createVerifier } from '../src/attestation/verify.js'
import { inputOf, root, tdx } from '../test/attestation/vectors.js'
import { useChromium } from '../test/browser/support/browser.js'
import { openVerifier } from '../test/browser/support/verifier.js'
import { bar, type Figure } from './support/figure.js'

/** Verifications of a round. */
const EACH = 20
const MOST_MS = 25

export const attestation: Figure = {
  name: 'attestation',
  title: "Verification of an enclave's evidence",
  async prepare({ cleanUp }) {
    const browser = await useChromium()
    cleanUp.defer(() => browser.close())
    const judgeAll = await openVerifier(cleanUp)
    const cellsOf = (outcomes: readonly string[], ms: number) => {
      if (outcomes.some((outcome) => outcome !== 'accepted'))
        throw new Error('the base vector is not accepted')
      return { 'least ms': ms / EACH }
    }
    const rowsOf = (of: { readonly root: string; readonly inputOf: typeof inputOf }) => {
      const inputs = Array.from({ length: EACH }, () => ({ root: of.root, ...of.inputOf({}) }))
      return {
        async node() {
          const verify = createVerifier(BORN, of.root, undefined, dstackBelow(of.root))
          const [start, cpu] = [performance.now(), process.cpuUsage()]
          const outcomes: string[] = []
          for (const input of inputs) outcomes.push((await judge(verify, input)).outcome)
          const { user, system } = process.cpuUsage(cpu)
          const cells = cellsOf(outcomes, performance.now() - start)
          return { ...cells, 'least CPU ms': (user + system) / 1_000 / EACH }
        },
        async chromium() {
          const judged = await judgeAll(inputs)
          return cellsOf(
            judged.map(({ outcome }) => outcome),
            judged.reduce((sum, { ms }) => sum + ms, 0),
          )
        },
      }
    }
    const [aws, dstack] = [rowsOf({ root, inputOf }), rowsOf(tdx)]
    return {
      rows: {
        Node: aws.node,
        'Node, dstack': dstack.node,
        Chromium: aws.chromium,
        'Chromium, dstack': dstack.chromium,
      },
      bars: [
        bar('least ms', 'Chromium', { atMost: MOST_MS }),
        bar('least ms', 'Chromium, dstack', { atMost: MOST_MS }),
      ],
      notes: [`${EACH} verifications of a chain of three certificates a round, one after another`],
    }
  },
}

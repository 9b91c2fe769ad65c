import type { verifyAttestation } from '../../attestation/index.js'
import { type Judgement, judge, type Outcome } from '../../attestation/judge.js'
import { EXIT, type ExitCode } from '../../service/exitCodes.js'
import { fields, shownTime } from '../../terminal/render.js'
import type { AddCommand } from '../context.js'
import { addCommonOptions } from '../input/options.js'
import { readJson } from '../input/rulebookFile.js'

const ABOUT = `Judges an enclave's evidence offline. The file is JSON: "attestation" as the enclave gave it, and as "expected" the accepted
"programs", "chainId", "escrow", "signer" (the chain's enclaveSigner()), and perhaps "now" in Unix milliseconds. Ends with 0 accepted; 3 refused;
2 unreadable: an input is malformed; 1 unsupported: only a later version may judge it.`

const EXITS: Readonly<Record<Outcome, ExitCode>> = {
  refused: EXIT.refused,
  unreadable: EXIT.usage,
  unsupported: EXIT.failed,
}

/** @param verify trusts the vendors' roots, but for tests */
export function attestCommand(verify: typeof verifyAttestation): AddCommand {
  return (root, { terminal, endWith }) => {
    addCommonOptions(root.command('attest').summary("judges an enclave's evidence").description(ABOUT))
      .argument('<file>', 'JSON with attestation and expected')
      .action(async (file: string) => {
        const judgement = await judge(verify, await readJson(file))
        terminal.result({ json: judgement, blocks: [fields(fieldsOf(judgement))] })
        if (judgement.outcome !== 'accepted') endWith(EXITS[judgement.outcome])
      })
  }
}

export const addAttest = attestCommand(async (attestation, expected) => {
  const { verifyAttestation } = await import('../../attestation/tdx/index.js')
  return verifyAttestation(attestation, expected)
})

function fieldsOf(judgement: Judgement): [string, string][] {
  if (judgement.outcome !== 'accepted') {
    return [
      ['outcome', judgement.outcome],
      ['code', judgement.code],
    ]
  }
  const { outcome, label, map, issuedAt, statement } = judgement
  const { build, configuration, signer, sealKey } = statement
  return [
    ['outcome', outcome],
    ['program', label],
    [map === 'tdx' ? 'firmware levels of' : 'issued', shownTime(new Date(issuedAt).toISOString())],
    ['build', `${build.version} ${build.digest}`],
    ['signer', signer],
    ['enclave key', sealKey],
    ...Object.entries(configuration),
  ]
}

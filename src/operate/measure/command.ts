// `operate measure`: what an image's evidence will say, before it runs.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { checkPolicy, measurementOf } from '../../attestation/policy.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { parsedBy } from '../../terminal/arguments.js'
import { usage } from '../../terminal/failure.js'
import { createSpeech, type OperateProcess } from '../io.js'
import { registersOfEif } from './eif.js'
import { registersOfUki } from './uki.js'

const ABOUT = `
Prints a policy of one program where an image and --configuration are given: write it to a file for --policy. Measure an image that you built
yourself from the sources, and take the digest of its configuration from "attested.js --configuration": what an operator or a server sends
you proves nothing.`

interface MeasureOptions {
  readonly bundle?: string
  readonly root?: string
  readonly eif?: string
  readonly uki?: string
  readonly configuration?: Hex
  readonly label?: string
  readonly json?: boolean
}

/** Adds `measure`, which reads files alone. */
export function addMeasure(root: Command, process: OperateProcess): void {
  root
    .command('measure')
    .description('prints the digests of a program and the registers of its image')
    .option('--bundle <file>', "the enclave's program: its SHA-256, as the statement has it")
    .option('--root <file>', 'the root file system: its SHA-256, to compare two builds')
    .option('--eif <file>', 'the image of a Nitro Enclave: PCR 0, 1 and 2')
    .option('--uki <file>', 'the unified kernel image of a machine with NitroTPM: PCR 4 and 12')
    .option('--configuration <digest>', 'of the configuration to accept', parsedBy(bytes32Schema))
    .option('--label <text>', "the program's name in the policy")
    .option('--json', 'one JSON object')
    .addHelpText('after', ABOUT)
    .action((options: MeasureOptions) => measure(process, options))
}

async function measure(process: OperateProcess, options: MeasureOptions): Promise<void> {
  const { bundle, root, eif, uki, configuration, label = 'measured' } = options
  if ((bundle ?? root ?? eif ?? uki) === undefined || (eif !== undefined && uki !== undefined))
    throw usage('name what to measure: --bundle, --root, and one of --eif and --uki')
  const speech = createSpeech(process, options)
  const digests = {
    ...(bundle !== undefined && { bundle: sha256Of(bundle) }),
    ...(root !== undefined && { root: sha256Of(root) }),
  }
  for (const [name, digest] of Object.entries(digests)) speech.say(`${name} ${digest}`)
  const image = eif ?? uki
  if (image === undefined) {
    speech.result([], { command: 'measure', ...digests })
    return
  }
  const map = eif === undefined ? 'nitrotpm_pcrs' : 'pcrs'
  const file = readFileSync(image)
  const registers = eif === undefined ? registersOfUki(file) : registersOfEif(file)
  const measurement = await measurementOf(map, registers)
  for (const [index, value] of Object.entries(registers)) speech.say(`PCR${index} ${value}`)
  speech.say(`measurement ${measurement}`)
  const policy = configuration && [{ label, [map]: registers, configuration }]
  if (policy !== undefined) checkPolicy(policy)
  else speech.say('no policy without --configuration')
  const facts = { command: 'measure', ...digests, [map]: registers, measurement, ...(policy && { policy }) }
  speech.result(policy ? [JSON.stringify(policy, null, 2)] : [], facts)
}

function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

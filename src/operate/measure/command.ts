// `operate measure`: what an image's evidence will say, before it runs.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { RegisterMap, Registers } from '../../attestation/nitro.js'
import { checkPolicy, measurementOf } from '../../attestation/policy.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { parsedBy } from '../../terminal/arguments.js'
import { usage } from '../../terminal/failure.js'
import { createSpeech, type OperateProcess } from '../io.js'
import { registersOfDstack } from './dstack.js'
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
  readonly dstack?: string
  readonly appCompose?: string
  readonly keyProvider?: string
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
    .option('--uki <file>', 'the unified kernel image of a machine with NitroTPM: PCR 2, 4, 12 and 13')
    .option('--dstack <file>', 'what dstack-mr prints of an image as JSON: MRTD and RTMR 0, 1 and 2')
    .option('--app-compose <file>', 'with --dstack: app-compose.json, byte for byte')
    .option('--key-provider <json>', 'with --dstack: {"name":"…","id":"…"}, as the machine logs it')
    .option('--configuration <digest>', 'of the configuration to accept', parsedBy(bytes32Schema))
    .option('--label <text>', "the program's name in the policy")
    .option('--json', 'one JSON object')
    .addHelpText('after', ABOUT)
    .action((options: MeasureOptions) => measure(process, options))
}

async function measure(process: OperateProcess, options: MeasureOptions): Promise<void> {
  const { bundle, root, eif, uki, dstack, configuration, label = 'measured' } = options
  const images = [eif, uki, dstack].filter((image) => image !== undefined)
  if ((bundle ?? root ?? images[0]) === undefined || images.length > 1)
    throw usage('name what to measure: --bundle, --root, and one of --eif, --uki and --dstack')
  const speech = createSpeech(process, options)
  const digests = {
    ...(bundle !== undefined && { bundle: sha256Of(bundle) }),
    ...(root !== undefined && { root: sha256Of(root) }),
  }
  for (const [name, digest] of Object.entries(digests)) speech.say(`${name} ${digest}`)
  const measured = registersOfImage(options)
  if (measured === undefined) {
    speech.result([], { command: 'measure', ...digests })
    return
  }
  const { map, registers } = measured
  const measurement = await measurementOf(map, registers)
  for (const [index, value] of Object.entries(registers))
    speech.say(`${map === 'tdx' ? '' : 'PCR'}${index} ${value}`)
  speech.say(`measurement ${measurement}`)
  const policy = configuration && [{ label, [map]: registers, configuration }]
  if (policy !== undefined) checkPolicy(policy)
  else speech.say('no policy without --configuration')
  const facts = { command: 'measure', ...digests, [map]: registers, measurement, ...(policy && { policy }) }
  speech.result(policy ? [JSON.stringify(policy, null, 2)] : [], facts)
}

/** Undefined where no image is named. @throws CommandError `image-malformed`, `usage` */
function registersOfImage({
  eif,
  uki,
  dstack,
  appCompose,
  keyProvider,
}: MeasureOptions): { readonly map: RegisterMap; readonly registers: Registers } | undefined {
  if (eif !== undefined) return { map: 'pcrs', registers: registersOfEif(readFileSync(eif)) }
  if (uki !== undefined) return { map: 'nitrotpm_pcrs', registers: registersOfUki(readFileSync(uki)) }
  if (dstack === undefined) return undefined
  if (appCompose === undefined || keyProvider === undefined)
    throw usage('--dstack needs --app-compose and --key-provider')
  const image = readFileSync(dstack, 'utf8')
  return { map: 'tdx', registers: registersOfDstack(image, readFileSync(appCompose), keyProvider) }
}

function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

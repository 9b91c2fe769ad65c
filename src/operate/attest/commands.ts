// `operate attest`: the master key is founded inside an enclave, and holders give it their shares.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { StartingVerifier } from '../../attestation/starting.js'
import type { Attestation } from '../../protocol/attestation.js'
import type { Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { chainIdTextSchema } from '../../protocol/identifiers.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import { type Founding, foundingSchema, type Provisioned, sharesDigest } from '../../protocol/provisioning.js'
import { baseUrl } from '../../service/configKinds.js'
import { writeNewFile } from '../../service/privateFile.js'
import type { Secret } from '../../service/secret.js'
import { anAddress, anId, parsedBy } from '../../terminal/arguments.js'
import { CommandError, RefusedError, usage } from '../../terminal/failure.js'
import { addCommand, type CommonOptions, createSpeech, type OperateProcess } from '../io.js'
import * as ceremony from './ceremony.js'
import { makeHolderKey, openOwn, readBrokerKeys, readHolderKey, readShare, writeShare } from './holder.js'
import { readJsonFile } from './jsonFile.js'
import { described, type Judging, type JudgingOptions, judgingOf, verified } from './judging.js'
import { ABOUT_REPORT, type ReportOptions, report } from './report.js'

const ABOUT = `
Each command verifies the enclave's evidence first: the hardware, that it is no debug image, the program and its configuration by the policy,
and the deployment. The policy is yours: a list of programs as in docs/attestation.md, never the operator's or the server's. RPC_URL is a node
that you trust: what the guardian has revoked is refused, and where the chain names a program each other one is, but with --next. Evidence that
does not hold ends a command with 3 (refused), 2 (unreadable) or 1 (unsupported), before anything is sent or kept.`

/** @param verify trusts the makers' roots, but for tests */
export function addAttest(root: Command, process: OperateProcess, verify: StartingVerifier): void {
  const attest = root
    .command('attest')
    .description('founds the master key inside an enclave, and gives a started one its shares')
    .addHelpText('after', ABOUT)
  const add = (name: string, summary: string) => addCommand(attest, name, summary)
  const addJudging = (name: string, summary: string) =>
    add(name, summary)
      .requiredOption('--policy <file>', 'the programs that are accepted')
      .option('--chain-id <id>', 'in place of deployment.json, with --escrow', parsedBy(chainIdTextSchema))
      .option('--escrow <address>', 'the contract OrderEscrow', anAddress)
      .option('--next', 'the program of an upgrade, which the chain does not name yet')
  const ENCLAVE_URL = ['--enclave-url <url>', 'where the enclave listens', parsedBy(baseUrl())] as const
  const KEY_FILE = ['--key-file <file>', "the holder's key, mode 0600"] as const

  add('key', "makes a holder's key where there is none, and prints its public key")
    .requiredOption(...KEY_FILE)
    .action((options: KeyOptions) => key(process, options))
  addJudging('found', 'has an enclave draw a master key, and writes the sealed shares for its holders')
    .requiredOption(...ENCLAVE_URL)
    .requiredOption('--key-file <file>', "the first holder's key, mode 0600")
    .option('--out <file>', 'the shares; shares.json in the directory by default')
    .action((options: FoundOptions) => found(process, options, verify))
  addJudging('accept', "opens a holder's own share of a founding, and keeps it")
    .requiredOption('--shares <file>', 'what "found" wrote')
    .requiredOption(...KEY_FILE)
    .requiredOption('--out <file>', "the holder's share, mode 0600")
    .action((options: AcceptOptions) => accept(process, options, verify))
  addJudging('provision', "gives a started enclave a holder's share")
    .requiredOption(...ENCLAVE_URL)
    .requiredOption('--share <file>', 'what "accept" wrote, which opens with the key alone')
    .requiredOption(...KEY_FILE)
    .option('--broker-keys <file>', 'the owner\'s: JSON with "keyId" and "secretKey", mode 0600')
    .action((options: ProvisionOptions) => provision(process, options, verify))
  add('report', 'has an enclave report to the owner, for "doctor", "invariants", "actions" or "resolve"')
    .requiredOption(...ENCLAVE_URL)
    .requiredOption(...KEY_FILE)
    .requiredOption('--out <file>', 'the report, mode 0600')
    .option('--account <address>', 'proves the master key with the portfolio of this account', anAddress)
    .option('--money', 'adds the sums of all portfolios')
    .option('--actions', 'corporate actions')
    .option('--order <order>', 'an order that is open a day after its deadline', anId)
    .addHelpText('after', ABOUT_REPORT)
    .action((options: ReportOptions) => report(process, options))
}

interface KeyOptions extends CommonOptions {
  readonly keyFile: string
}

async function key(process: OperateProcess, options: KeyOptions): Promise<void> {
  const { keyFile } = options
  const speech = createSpeech(process, options)
  const isNew = !existsSync(keyFile)
  if (isNew) await speech.confirm(`Make a key in ${keyFile}, mode 0600?`)
  else speech.say(`keeps ${keyFile}`)
  const { publicKey } = isNew ? makeHolderKey(keyFile) : readHolderKey(keyFile)
  speech.result([publicKey], { command: 'attest key', changed: isNew, publicKey })
}

interface FoundOptions extends JudgingOptions {
  readonly enclaveUrl: string
  readonly keyFile: string
  readonly out?: string
}

async function found(
  process: OperateProcess,
  options: FoundOptions,
  verify: StartingVerifier,
): Promise<void> {
  const { enclaveUrl, keyFile, directory, out = join(directory, 'shares.json') } = options
  const speech = createSpeech(process, options)
  const judging = judgingOf(process, options)
  const { privateKey } = readHolderKey(keyFile)
  const awaiting = await ceremony.askStarting(enclaveUrl)
  const { sealKey } = (await verified(verify, awaiting, judging)).statement
  await speech.confirm(`Have the enclave at ${enclaveUrl} draw a new master key?`)
  const founding = await ceremony.found(enclaveUrl, sealKey, privateKey.reveal())
  const { lines, facts } = await judged(verify, founding, judging)
  for (const line of lines) speech.say(line)
  writeNewFile(out, `${JSON.stringify(founding, null, 2)}\n`, 0o644)
  const { length } = founding.shares
  speech.result([`${out}: ${length} shares, each for its holder, who accepts hers within two hours`], {
    ...{ command: 'attest found', changed: true, file: out, shares: length, ...facts },
  })
}

/** The evidence of a founding, which is about its shares. */
async function judged(verify: StartingVerifier, founding: Founding, judging: Judging) {
  const verification = await verified(verify, founding, judging)
  if (verification.statement.shares !== sharesDigest(founding.shares)) {
    const text = 'the evidence is about other shares, so these can be of anybody'
    throw new CommandError('evidence-refused', text, null, ['shares-differ'])
  }
  return described(verification)
}

interface AcceptOptions extends JudgingOptions {
  readonly shares: string
  readonly keyFile: string
  readonly out: string
}

async function accept(
  process: OperateProcess,
  options: AcceptOptions,
  verify: StartingVerifier,
): Promise<void> {
  const { shares: file, keyFile, out } = options
  const speech = createSpeech(process, options)
  const judging = judgingOf(process, options)
  const { domain } = judging
  const { privateKey, publicKey } = readHolderKey(keyFile)
  const { data: founding } = foundingSchema.safeParse(readJsonFile(file))
  if (founding === undefined) throw usage(`${file} is not what "found" wrote`)
  const { lines, facts } = await judged(verify, founding, judging)
  for (const line of lines) speech.say(line)
  const { envelope, share } = await ownShare(founding.shares, privateKey, domain)
  await speech.confirm(`Keep your share of the master key ${share.master} in ${out}?`)
  writeShare(out, domain, publicKey, envelope)
  const { master, threshold } = share
  speech.result([`${out}: a share of ${founding.shares.length}, of which ${threshold} make the key`], {
    ...{ command: 'attest accept', changed: true, file: out, holder: publicKey, master, threshold, ...facts },
  })
}

/** @throws CommandError `share-missing` where none is sealed to this key */
async function ownShare(shares: readonly Envelope[], key: Secret<Hex>, domain: IntentDomain) {
  for (const envelope of shares) {
    const share = await openOwn(envelope, key, domain)
    if (share !== undefined) return { envelope, share }
  }
  throw new CommandError('share-missing', 'none of the shares is sealed to this key')
}

interface ProvisionOptions extends JudgingOptions {
  readonly enclaveUrl: string
  readonly share: string
  readonly keyFile: string
  readonly brokerKeys?: string
}

async function provision(
  process: OperateProcess,
  options: ProvisionOptions,
  verify: StartingVerifier,
): Promise<void> {
  const { enclaveUrl } = options
  const speech = createSpeech(process, options)
  const judging = judgingOf(process, options)
  const { domain } = judging
  const holder = readHolderKey(options.keyFile)
  const share = await readShare(options.share, domain, holder)
  const broker = options.brokerKeys === undefined ? undefined : readBrokerKeys(options.brokerKeys)
  const document = await documentOf(enclaveUrl)
  if (document === undefined) {
    speech.result(['nothing to do: the enclave says that it has its keys'], {
      ...{ command: 'attest provision', changed: false },
    })
    return
  }
  const verification = await verified(verify, document, judging)
  const { lines, facts } = described(verification)
  for (const line of lines) speech.say(line)
  const what = broker === undefined ? 'your share' : "your share and the broker's keys"
  await speech.confirm(`Give ${what} to the enclave at ${enclaveUrl}?`)
  const given = { share, key: holder.privateKey.reveal(), ...(broker && { broker }) }
  const answer = await ceremony.provision(enclaveUrl, verification.statement.sealKey, domain, given)
  speech.result([wordsOf(answer)], { command: 'attest provision', changed: true, ...answer, ...facts })
}

/** Undefined where the enclave waits for no keys. */
async function documentOf(enclaveUrl: string): Promise<Attestation | undefined> {
  try {
    return await ceremony.askStarting(enclaveUrl)
  } catch (error) {
    if (error instanceof RefusedError && error.code === 'keys-present') return undefined
    throw error
  }
}

/** @throws CommandError `share-false` */
function wordsOf({ given, threshold, hasBrokerKeys, isReady }: Provisioned): string {
  if (isReady) return 'the enclave has its keys'
  const has = `the enclave has ${given.length} of ${threshold} shares`
  if (given.length < threshold) return `${has}, and waits for the next holder`
  if (!hasBrokerKeys)
    return `${has}, and waits for the broker's keys, which the owner gives with --broker-keys`
  throw new CommandError('share-false', `${has}, which do not make the key: one of them is false`)
}

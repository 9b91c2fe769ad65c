import type { Command } from 'commander'
import * as z from 'zod'
import type { verifyAttestation } from '../attestation/index.js'
import type { AuthorityRole } from '../chain/contracts.js'
import type { SignerProgram } from '../chain/signerProgram.js'
import { sameAddress } from '../protocol/address.js'
import { bytes32Schema, type Hex } from '../protocol/hex.js'
import { symbolSchema } from '../protocol/identifiers.js'
import { formatDecimal, USDC_DECIMALS } from '../protocol/units.js'
import type { Environment } from '../service/config.js'
import { account, baseUrl } from '../service/configKinds.js'
import { aName, anAmount, parsedBy, several } from '../terminal/arguments.js'
import { CommandError, usage } from '../terminal/failure.js'
import { attestedSigner } from './attest/signerEvidence.js'
import { addressOf, type Call, type Chain, connectChain, sendCalls, walletOf } from './chain.js'
import type { Change, Platform } from './changes.js'
import * as changes from './changes.js'
import { addCommand, type CommonOptions, createSpeech, type OperateProcess } from './io.js'
import {
  findDeployment,
  KEY_VARIABLES,
  type KeyRole,
  readChainId,
  readDeployment,
  readKey,
  readPublicValues,
} from './settings.js'

const ETHER_DECIMALS = 18

/** The sender, and the changes of its deployment. */
interface Request {
  readonly name: string
  readonly as: KeyRole
  /** Asks about each change by itself. */
  readonly oneByOne?: boolean | undefined
  /** @param sender the address of the key */
  readonly changes: (platform: Platform, sender: Hex) => Promise<readonly Change[]>
}

function request(process: OperateProcess, options: CommonOptions, { changes: of, ...request }: Request) {
  const deployment = readDeployment(options.directory)
  return send(process, options, {
    ...{ ...request, chainId: deployment.chainId },
    async changes(chain, sender) {
      const platform = changes.createPlatform(chain, deployment)
      await requireRole(platform, request.as, sender)
      return of(platform, sender)
    },
  })
}

/** The changes of the platform's owner. */
export function asOwner(
  process: OperateProcess,
  name: string,
  options: CommonOptions,
  of: Request['changes'],
  { oneByOne }: Pick<Request, 'oneByOne'> = {},
) {
  return request(process, options, { name, as: 'owner', oneByOne, changes: of })
}

/** Says what the changes are, asks, and sends those that the chain does not have yet. */
async function send(
  process: OperateProcess,
  options: CommonOptions,
  request: Pick<Request, 'name' | 'as' | 'oneByOne'> & {
    /** Null for the node's own. */
    readonly chainId: number | null
    readonly changes: (chain: Chain, sender: Hex) => Promise<readonly Change[]>
  },
): Promise<void> {
  const { name, as } = request
  const speech = createSpeech(process, options)
  const key = readKey(process.env, as)
  const chain = await connectChain(process.env, request.chainId)
  try {
    const { chainId } = chain
    const wallet = walletOf(key, chain)
    const sender = addressOf(wallet)
    const asked = await request.changes(chain, sender)
    const missing = asked.flatMap(({ call }) => (call === null ? [] : [call]))
    for (const { text, call } of asked) speech.say(call === null ? `already so: ${text}` : `will ${text}`)
    const facts = { command: name, chainId, sender }
    if (missing.length === 0) {
      speech.result(['nothing to do'], { ...facts, changed: false, transactions: [] })
      return
    }
    const calls: Call[] = []
    for (const each of request.oneByOne ? missing.map((call) => [call]) : [missing]) {
      const what = request.oneByOne ? each.map(({ text }) => text).join() : `Send ${counted(each.length)}`
      if (await speech.ask(`${what} on chain ${chainId} as ${as} ${sender}?`)) calls.push(...each)
    }
    if (calls.length === 0) throw new CommandError('declined', 'nothing was done')
    const transactions = await sendCalls(chain, wallet, calls, speech)
    speech.result([`done: ${name}`], { ...facts, changed: true, transactions })
  } finally {
    chain.close()
  }
}

function counted(transactions: number): string {
  return transactions === 1 ? '1 transaction' : `${transactions} transactions`
}

/** Before anything is sent, so that a wrong key costs no gas. */
export async function requireRole(
  platform: Pick<Platform, 'authority'>,
  as: KeyRole,
  sender: Hex,
): Promise<void> {
  if (as !== 'owner' && as !== 'guardian') return
  const holder = await changes.holderOf(platform, as)
  if (sameAddress(holder, sender)) return
  const text = `${KEY_VARIABLES[as]} is the key of ${sender}, but the ${as} is ${holder}`
  throw new CommandError(`not-${as}`, text)
}

const address = parsedBy<Hex>(account())
const digest = parsedBy<Hex>(bytes32Schema)
const symbol = parsedBy(symbolSchema.check(z.refine((text) => text !== 'USDC', 'USDC is no equity')))

/**
 * Adds the commands that change a deployed platform.
 * @param verify judges the evidence of a signer
 */
export function addChainCommands(
  root: Command,
  process: OperateProcess,
  verify: typeof verifyAttestation,
): void {
  const add = (name: string, summary: string) => addCommand(root, name, summary)
  const asTheOwner = (name: string, options: CommonOptions, of: Request['changes']) =>
    asOwner(process, name, options, of)

  for (const [name, listed, summary] of [
    ['list', true, 'lists equities, so that employees can buy them'],
    ['delist', false, 'delists equities: employees can no longer buy them; holders can sell and withdraw'],
  ] as const) {
    add(name, summary)
      .argument('<symbols...>', 'such as AAPL', several(symbol))
      .action((symbols: string[], options: CommonOptions) =>
        asTheOwner(name, options, (platform) =>
          Promise.all(symbols.map((each) => changes.listing(platform, each, listed))),
        ),
      )
  }

  add('kyc', 'records that wallets have passed KYC')
    .argument('<wallets...>', 'their addresses', several(address))
    .option('--revoke', 'withdraws it')
    .action((wallets: Hex[], options: CommonOptions & { revoke?: true }) =>
      asTheOwner('kyc', options, (platform) =>
        Promise.all(wallets.map((each) => changes.clearance(platform, each, options.revoke !== true))),
      ),
    )

  add('freeze', "freezes a wallet's holding of an equity")
    .argument('<symbol>', 'such as AAPL', symbol)
    .argument('<wallet>', 'its address', address)
    .option('--release', 'releases it')
    .action((name: string, wallet: Hex, options: CommonOptions & { release?: true }) =>
      asTheOwner('freeze', options, async (platform) => [
        await changes.freezing(platform, name, wallet, options.release !== true),
      ]),
    )

  add('admit', 'admits an institution: its members can buy, and its admin can publish a rulebook')
    .argument('<name>', 'as it was founded', aName)
    .argument(
      '[founder]',
      'the wallet that founded it, which becomes its admin: at the first admission',
      address,
    )
    .option('--suspend', 'suspends it: its members can still sell and withdraw')
    .action((name: string, founder: Hex | undefined, options: CommonOptions & { suspend?: true }) =>
      asTheOwner('admit', options, async (platform) => [
        await changes.admission(platform, name, founder ?? null, options.suspend !== true),
      ]),
    )

  add('treasury', "moves USDC from the pool to the broker's funding address; each run moves it once more")
    .argument('<usdc>', 'the amount, such as 1000 or 250.50', anAmount(USDC_DECIMALS))
    .action((amount: bigint, options: CommonOptions) =>
      asTheOwner('treasury', options, async (platform) => [await changes.treasury(platform, amount)]),
    )

  add('pause', "stops openings and the enclave's authorizations, as the guardian")
    .option('--lift', 'ends the pause, as the owner')
    .action((options: CommonOptions & { lift?: true }) =>
      options.lift === true
        ? asTheOwner('pause', options, async (platform) => [await changes.liftedPause(platform)])
        : request(process, options, {
            name: 'pause',
            as: 'guardian',
            changes: async (platform) => [await changes.pause(platform)],
          }),
    )

  add('revoke', 'revokes the measurement of an attested program at once and for good, as the guardian')
    .argument('<measurement>', 'its digest, of 32 bytes', digest)
    .action((measurement: Hex, options: CommonOptions) =>
      request(process, options, {
        name: 'revoke',
        as: 'guardian',
        changes: async (platform) => [await changes.revocation(platform, measurement)],
      }),
    )

  for (const [role, whose] of [
    ['signer', "the enclave's signer"],
    ['owner', 'the owner'],
    ['guardian', 'the guardian'],
  ] as const) {
    const command = add(role, `schedules another address as ${whose}, after the deployment's rotation delay`)
      .argument('[address]', 'of the next one', address)
      .option('--withdraw', 'withdraws the scheduled change')
    if (role === 'signer') {
      command
        .option(
          '--attestation <source>',
          "URL or file of the enclave's evidence: it names signer and program",
        )
        .option(
          '--enclave-url <url>',
          'in its place, the enclave itself, asked with ENCLAVE_TRIGGER_SECRET',
          parsedBy(baseUrl()),
        )
        .option('--policy <file>', 'the programs that are accepted, with either of them')
        .option('--unattested', 'to an address of no evidence, where the chain names an attested program')
    }
    command.action(async (to: Hex | undefined, options: RotationOptions) => {
      const next = await nextOf(process.env, to, options, verify)
      return asTheOwner(role, options, async (platform) => [await rotationOf(platform, role, next, options)])
    })
  }

  addFund(root, process)
}

interface RotationOptions extends CommonOptions {
  readonly withdraw?: true
  readonly attestation?: string
  readonly enclaveUrl?: string
  readonly policy?: string
  readonly unattested?: true
}

/** The next holder: as named, or as verified evidence binds it. @throws CommandError as {@link attestedSigner} says */
async function nextOf(
  env: Environment,
  to: Hex | undefined,
  options: RotationOptions,
  verify: typeof verifyAttestation,
): Promise<{ readonly to: Hex | undefined; readonly program?: SignerProgram }> {
  const { attestation: source, enclaveUrl, policy, withdraw, unattested, directory } = options
  if ((source ?? enclaveUrl ?? policy) === undefined) return { to }
  if (policy === undefined || (source === undefined) === (enclaveUrl === undefined))
    throw usage('name --policy, and one of --attestation and --enclave-url')
  if (withdraw || unattested)
    throw usage('evidence names a signer, and goes without --withdraw and --unattested')
  const from = enclaveUrl === undefined ? { source: `${source}` } : { enclaveUrl, env }
  const asked = { from, policy, named: to }
  const { signer, ...program } = await attestedSigner(asked, readDeployment(directory), verify)
  return { to: signer, program }
}

async function rotationOf(
  platform: Platform,
  role: AuthorityRole,
  { to, program }: Awaited<ReturnType<typeof nextOf>>,
  { withdraw, unattested }: RotationOptions,
): Promise<Change> {
  if ((to === undefined) === (withdraw === undefined)) {
    throw usage(`name the next ${role}'s address, or give --withdraw`)
  }
  if (to === undefined) return changes.withdrawal(platform, role)
  if (role === 'signer' && program === undefined && !unattested && (await changes.isAttested(platform))) {
    throw usage(
      'the chain names an attested program, and no evidence binds this address: give --policy and --attestation, or \
--unattested, after which every client with measurements refuses the enclave',
    )
  }
  return changes.rotation(platform, role, to, program)
}

/** Names that `keys` gives to addresses, for `fund gas`. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ['relayer', 'RELAYER_ADDRESS'],
  ['owner', 'OWNER_ADDRESS'],
  ['guardian', 'GUARDIAN_ADDRESS'],
])

function addFund(root: Command, process: OperateProcess): void {
  const fund = root
    .command('fund')
    .description('pays USDC into the pool, or ether for gas, from FUNDER_PRIVATE_KEY')
  addCommand(fund, 'pool', 'adds USDC to the pool, without credit to anyone; each run pays once more')
    .argument('<usdc>', 'the amount, such as 1000 or 250.50', anAmount(USDC_DECIMALS))
    .action((amount: bigint, options: CommonOptions) =>
      request(process, options, {
        name: 'fund pool',
        as: 'funder',
        changes: (platform, sender) => changes.poolFunding(platform, sender, amount),
      }),
    )
  // Needs no deployment: the accounts get their ether before there is one. Then `CHAIN_ID` says which chain is meant.
  addCommand(fund, 'gas', 'sends ether for gas; each run pays once more')
    .argument('<to>', 'an address; or relayer, owner or guardian, whose keys "keys" made')
    .argument('<ether>', 'the amount, such as 0.05', anAmount(ETHER_DECIMALS))
    .action((named: string, value: bigint, options: CommonOptions) => {
      const to = recipientOf(named, options.directory)
      const text = `send ${formatDecimal(value, ETHER_DECIMALS)} ether to ${to}`
      const chainId = findDeployment(options.directory)?.chainId ?? readChainId(process.env)
      const changes = async () => [{ text, call: { to, value, text } }]
      return send(process, options, { name: 'fund gas', as: 'funder', chainId, changes })
    })
}

/** @throws CommandError `usage` */
function recipientOf(text: string, directory: string): Hex {
  const variable = NAMED.get(text)
  const known = variable === undefined ? text : readPublicValues(directory)[variable]
  const { data } = account().safeParse(known)
  if (data !== undefined) return data
  throw usage(
    `"${text}" is no address and no key that "keys" made: give an address, relayer, owner or guardian`,
  )
}

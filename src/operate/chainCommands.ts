import type { Command } from 'commander'
import type { verifyAttestation } from '../attestation/index.js'
import type { Change, Role, SignerProgram } from '../client/operator.js'
import { ZERO_ADDRESS } from '../protocol/address.js'
import { bytes32Schema, type Hex } from '../protocol/hex.js'
import { equitySymbolSchema, nameToBytes32 } from '../protocol/identifiers.js'
import { formatDecimal, USDC_DECIMALS } from '../protocol/units.js'
import type { Environment } from '../service/config.js'
import { account, baseUrl } from '../service/configKinds.js'
import { aName, anAmount, parsedBy, several } from '../terminal/arguments.js'
import { usage } from '../terminal/failure.js'
import { applyAs, take } from './applyAs.js'
import { attestedSigner } from './attest/signerEvidence.js'
import { sendEther, type Views } from './chain.js'
import { addCommand, type CommonOptions, type OperateProcess } from './io.js'
import { findDeployment, type KeyRole, readChainId, readDeployment, readPublicValues } from './settings.js'

const ETHER_DECIMALS = 18

const address = parsedBy<Hex>(account())
const digest = parsedBy<Hex>(bytes32Schema)
const symbol = parsedBy(equitySymbolSchema)

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
  const by = (as: KeyRole) => (name: string, options: CommonOptions, asked: Parameters<typeof applyAs>[3]) =>
    applyAs(process, options, { name, as }, asked)
  const [asOwner, asGuardian] = [by('owner'), by('guardian')]

  for (const [name, isListed, summary] of [
    ['list', true, 'lists equities, so that employees can buy them'],
    ['delist', false, 'delists equities: employees can no longer buy them; holders can sell and withdraw'],
  ] as const) {
    add(name, summary)
      .argument('<symbols...>', 'such as AAPL', several(symbol))
      .action((symbols: string[], options: CommonOptions) => {
        const changes = symbols.map((symbol) => ({ kind: 'listing', symbol, isListed }) as const)
        return asOwner(name, options, changes)
      })
  }

  add('kyc', 'records that wallets have passed KYC')
    .argument('<wallets...>', 'their addresses', several(address))
    .option('--revoke', 'withdraws it')
    .action((wallets: Hex[], options: CommonOptions & { revoke?: true }) => {
      const isVerified = options.revoke !== true
      const changes = wallets.map((wallet) => ({ kind: 'kyc', wallet, isVerified }) as const)
      return asOwner('kyc', options, changes)
    })

  add('freeze', "freezes a wallet's holding of an equity")
    .argument('<symbol>', 'such as AAPL', symbol)
    .argument('<wallet>', 'its address', address)
    .option('--release', 'releases it')
    .action((symbol: string, wallet: Hex, options: CommonOptions & { release?: true }) =>
      asOwner('freeze', options, [{ kind: 'freeze', symbol, wallet, isFrozen: options.release !== true }]),
    )

  add('admit', 'admits an institution: its members can buy, and its admin can publish a rulebook')
    .argument('<name>', 'as it was founded', aName)
    .argument(
      '[founder]',
      'the wallet that founded it, which becomes its admin: at the first admission',
      address,
    )
    .option('--suspend', 'suspends it: its members can still sell and withdraw')
    .action((name: string, founder: Hex | undefined, options: CommonOptions & { suspend?: true }) => {
      const [orgId, isAdmitted] = [nameToBytes32(name), options.suspend !== true]
      return asOwner('admit', options, async ({ registry }) => {
        const admin = founder ?? (await registry.adminOf(orgId))
        if (admin !== ZERO_ADDRESS) return [{ kind: 'admission', orgId, admin, isAdmitted }]
        const asked = "check the name, or name its founder's wallet too"
        throw usage(`no institution "${name}" was ever admitted: ${asked}`)
      })
    })

  add('treasury', "moves USDC from the pool to the broker's funding address; each run moves it once more")
    .argument('<usdc>', 'the amount, such as 1000 or 250.50', anAmount(USDC_DECIMALS))
    .action((usdc: bigint, options: CommonOptions) =>
      asOwner('treasury', options, [{ kind: 'treasury', usdc }]),
    )

  add('pause', "stops openings and the enclave's authorizations, as the guardian")
    .option('--lift', 'ends the pause, as the owner')
    .action((options: CommonOptions & { lift?: true }) =>
      options.lift === true
        ? asOwner('pause', options, [{ kind: 'pause', isPaused: false }])
        : asGuardian('pause', options, [{ kind: 'pause', isPaused: true }]),
    )

  add('revoke', 'revokes the measurement of an attested program at once and for good, as the guardian')
    .argument('<measurement>', 'its digest, of 32 bytes', digest)
    .action((measurement: Hex, options: CommonOptions) =>
      asGuardian('revoke', options, [{ kind: 'revocation', measurement }]),
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
      return asOwner(role, options, async (views) => [await rotationOf(views, role, next, options)])
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
  { authority }: Views,
  role: Role,
  { to, program }: Awaited<ReturnType<typeof nextOf>>,
  { withdraw, unattested }: RotationOptions,
): Promise<Change> {
  if ((to === undefined) === (withdraw === undefined)) {
    throw usage(`name the next ${role}'s address, or give --withdraw`)
  }
  if (to === undefined) return { kind: 'rotation', role, to: null, program: null }
  const isUnproven = role === 'signer' && program === undefined && !unattested
  const named = isUnproven ? await Promise.all([authority.signerProgram(), authority.pendingProgram()]) : []
  if (named.some((each) => each !== null)) {
    throw usage(
      'the chain names an attested program, and no evidence binds this address: give --policy and --attestation, or \
--unattested, after which every client with measurements refuses the enclave',
    )
  }
  return { kind: 'rotation', role, to, program: program ?? null }
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
    .action((usdc: bigint, options: CommonOptions) =>
      applyAs(process, options, { name: 'fund pool', as: 'funder' }, [
        { kind: 'allowance', usdc },
        { kind: 'fund', usdc },
      ]),
    )
  // Needs no deployment: the accounts get their ether before there is one. Then `CHAIN_ID` says which chain is meant.
  addCommand(fund, 'gas', 'sends ether for gas; each run pays once more')
    .argument('<to>', 'an address; or relayer, owner or guardian, whose keys "keys" made')
    .argument('<ether>', 'the amount, such as 0.05', anAmount(ETHER_DECIMALS))
    .action((named: string, value: bigint, options: CommonOptions) => {
      const to = recipientOf(named, options.directory)
      const text = `send ${formatDecimal(value, ETHER_DECIMALS)} ether to ${to}`
      const chainId = findDeployment(options.directory)?.chainId ?? readChainId(process.env)
      return take(process, options, { name: 'fund gas', as: 'funder', chainId }, async (chain, wallet) => [
        { text, send: () => sendEther(chain, wallet, to, value) },
      ])
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

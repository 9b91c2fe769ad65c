// The gas of each call, compared to the unit with the table in contracts/gas.md. `npm run gas` writes the table anew.
import { keccak256, toBeHex } from 'ethers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Authorization } from '../../src/protocol/authorization.js'
import { bytes32Schema, concatBytes, type Hex, hexToBytes, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { partsOf } from '../../src/protocol/ledgerBlob.js'
import {
  approvalOf,
  type BoundOrder,
  batchBurn,
  batchMint,
  orderOf,
  policyUpdate,
  portfolioMove,
  portfolioUpdate,
  refund,
  settlement,
  signedCall,
} from '../support/authorizations.js'
import { type ContractKey, type Sender, startTestChain, type TestChain } from '../support/chain.js'
import { AAPL, bytes32, DAY, MSFT, ORG, setUpInstitution, shares, USDC, usd } from '../support/institution.js'
import { PUBLIC_KEY } from '../support/oneOfEach.js'
import { keyOf, openingCall, permitOf, signOpening } from '../support/openings.js'
import { EMPTY, orderActions } from '../support/orderActions.js'
import type { Role } from '../support/roles.js'
import { usdcFixture } from './fixtures/usdc.js'

// Fixed, like all that is in calldata: a zero byte costs less than another.
const GENESIS = 2_000_000_000
const DEADLINE = GENESIS + 10 * DAY
const OPTIONS = { args: ['--hardfork', 'osaka', '--timestamp', `${GENESIS}`], delays: { rotation: DAY } }
/** Bytes of a blob beyond its padded plaintext, as `ledgerBlob.ts` and `userBlob.ts` write it. */
const HEADER = { enclave: 29, user: 62, policy: 29 }
const CONTRACTS = ['escrow', 'ledger', 'pool', 'registry', 'token', 'aapl', 'actions', 'authority'] as const
const OTHER = nameToBytes32('Borealis')

const usdc = await usdcFixture('BlacklistingUsdc')
let chain: TestChain
/** The list hash of the one corporate action, which each authorization names. */
let listHash: Hex
const actions = orderActions(() => chain)
const { account, presentOf, nextOf } = actions

interface Row {
  contract: ContractKey
  method: string
  label: string
  gas: bigint
}
const rows: Row[] = []

/** Sends the call, which must succeed, and notes its gas where it has a label. */
async function measure(
  label: string | undefined,
  from: Sender,
  contract: ContractKey,
  method: string,
  ...args: unknown[]
): Promise<void> {
  const { gasUsed } = await chain.send(from, contract, method, ...args)
  if (label !== undefined) rows.push({ contract, method, label, gas: gasUsed })
}

const relay = (label: string | undefined, authorization: Authorization) =>
  measure(label, 'relayer', ...signedCall(chain, authorization))

/** Bytes that look like ciphertext and depend on the seed alone. */
function bytes(seed: string, length: number): Hex {
  const words = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    hexToBytes(`0x${keccak256(`${bytes32(seed)}${toBeHex(index, 4).slice(2)}`).slice(2)}`),
  )
  return `0x${Buffer.from(concatBytes(...words).subarray(0, length)).toString('hex')}`
}

/** The next write of the account's portfolio, with `padded` bytes of plaintext. */
async function writeOf(role: Role, padded: number) {
  const next = await nextOf(role)
  const seed = `${role} ${next.version}`
  return {
    ...next,
    actions: listHash,
    enclaveBlob: bytes(`${seed} enclave`, HEADER.enclave + padded),
    userBlob: bytes(`${seed} user`, HEADER.user + padded),
  }
}

/** Opens an order out of the wallet. */
async function open(role: Role, name: string, amount: bigint, label?: string): Promise<BoundOrder> {
  const method = amount > 0n ? 'openBuy' : 'openRequest'
  const args = [bytes32(name), bytes32(`${name} sealed`), ...(amount > 0n ? [amount] : []), DEADLINE]
  await measure(label, role, 'escrow', method, ...args)
  return orderOf(chain, bytes32(name))
}
const buy = (role: Role, name: string, label?: string) => open(role, name, usd(1_000), label)
const request = (role: Role, name: string, label?: string) => open(role, name, 0n, label)

/** Opens an order that the account has signed; the relayer sends it. */
async function openFor(role: Role, name: string, amount: bigint, label: string): Promise<void> {
  const [orderId, commit] = [bytes32(name), bytes32(`${name} sealed`)]
  const named = { account: account(role), orderId, commit, amount }
  const order = { ...named, deadline: DEADLINE, validBefore: GENESIS + 2 * DAY }
  const call = openingCall(order, signOpening(chain, order, { key: keyOf(chain, role) }))
  await measure(label, 'relayer', ...call)
}

/** Writes the portfolio ahead of an order's end, as the enclave does before it places. */
const writeAhead = async (role: Role, order: BoundOrder, padded = 512) =>
  relay(undefined, portfolioUpdate(order, await writeOf(role, padded)))

const blacklist = (role: Role, on: boolean) => usdc.turn(chain, 'setBlacklisted', account(role), on)
const freeze = (role: Role, on: boolean) => chain.send('owner', 'token', 'setFrozen', AAPL, account(role), on)

/** Opens an order of the account and refunds it, without a write. */
async function refundUnwritten(role: Role, name: string, label?: string, open = request): Promise<void> {
  const order = await open(role, name)
  await relay(label, refund(order, { ...(await presentOf(role)), actions: listHash, ...EMPTY }))
}

/**
 * The platform in use: it has shares, USDC and a corporate action, two accounts have ended orders behind them, and two orders of
 * others are open.
 */
async function setUp(): Promise<void> {
  await setUpInstitution(chain)
  await relay(undefined, batchMint(AAPL, shares(100)))
  await chain.send('carol', 'usdc', 'approve', chain.addressOf('pool'), usd(9_000))
  await chain.send('carol', 'pool', 'fund', usd(5_000))
  const dividend = [2, GENESIS, 0, 0, 0, MSFT, ZERO_BYTES32]
  await chain.send('owner', 'actions', 'propose', dividend)
  await chain.mineAt(GENESIS + DAY + 60)
  await chain.send('dave', 'actions', 'enact', dividend)
  listHash = bytes32Schema.parse(await chain.read('actions', 'listHash'))
  for (const role of ['alice', 'admin'] as const) await refundUnwritten(role, `${role} ended`)
  await buy('bob', 'open buy', 'the first of an account')
  await request('carol', 'open sale')
}

const SECTIONS: Record<string, () => Promise<void>> = {
  async opening() {
    await buy('alice', 'first', 'the account has no other order open')
    await buy('alice', 'second', 'the account has others open')
    await request('admin', 'third', 'the account has no other order open')
    await request('admin', 'fourth', 'the account has others open')
  },

  async openingFor() {
    await openFor('alice', 'first', usd(1_000), 'the account has no other order open')
    await openFor('alice', 'second', usd(1_000), 'the account has others open')
    await openFor('admin', 'third', 0n, 'the account has no other order open')
    await openFor('admin', 'fourth', 0n, 'the account has others open')
  },

  async writing() {
    const order = await request('alice', 'sale')
    const write = async (label: string, padded: number) =>
      relay(label, portfolioUpdate(order, await writeOf('alice', padded)))
    await write('the first, 512 bytes', 512)
    await write('a later one, 512 bytes', 512)
    await write('512 to 1,536 bytes', 1_536)
    await write('a later one, 1,536 bytes', 1_536)
    await write('1,536 to 3,072 bytes', 3_072)
    await write('a later one, 3,072 bytes', 3_072)
    for (const padded of [8_192, 13_824]) await writeAhead('alice', order, padded)
    await write('13,824 to 19,968 bytes, the largest', 19_968)
    await write('a later one, 19,968 bytes', 19_968)
  },

  async settling() {
    const settle = async (label: string, padded: number, payout = {}, open = buy) => {
      const order = await open('alice', label)
      await writeAhead('alice', order, padded)
      await relay(label, settlement(order, { ...(await writeOf('alice', padded)), ...payout }))
    }
    const paysUsdc = { payoutAsset: USDC, payout: usd(300) }
    const paysShares = { payoutAsset: AAPL, payout: shares(2) }
    await settle('a buy, 512 bytes', 512)
    await settle('a sale, 512 bytes', 512, {}, request)
    await settle('a withdrawal of USDC, 512 bytes', 512, paysUsdc, request)
    await settle('the first withdrawal of a symbol, 512 bytes', 512, paysShares, request)
    await settle('a later withdrawal of shares, 512 bytes', 512, paysShares, request)
    await blacklist('alice', true)
    await settle('a withdrawal of USDC that becomes a claim, 512 bytes', 512, paysUsdc, request)
    await blacklist('alice', false)
    await freeze('alice', true)
    await settle('a withdrawal of shares that becomes a claim, 512 bytes', 512, paysShares, request)
    await settle('a buy, 3,072 bytes', 3_072)
  },

  async refunding() {
    const refunds = async (label: string, padded: number, open = buy) => {
      const order = await open('alice', label)
      await writeAhead('alice', order, padded)
      await relay(label, refund(order, await writeOf('alice', padded)))
    }
    await refundUnwritten('alice', 'unheld buy', 'a buy, no portfolio', buy)
    await refundUnwritten('alice', 'unheld request', 'a request, no portfolio')
    await refunds('a buy, 512 bytes', 512)
    await refunds('a request, 512 bytes', 512, request)
    const becomesClaim = await buy('alice', 'becomes a claim')
    await blacklist('alice', true)
    const written = refund(becomesClaim, await writeOf('alice', 512))
    await relay('a buy that becomes a claim, 512 bytes', written)
    await blacklist('alice', false)
    await refunds('a buy, 3,072 bytes', 3_072)
  },

  async reclaiming() {
    const orders = [await buy('alice', 'buy'), await request('alice', 'sale'), await buy('alice', 'claim')]
    await writeAhead('alice', await buy('alice', 'held'))
    await chain.mineAt(DEADLINE + 7 * DAY)
    const [bought, requested, claimed] = orders.map(({ orderId }) => orderId)
    await measure('a buy', 'alice', 'escrow', 'reclaim', bought)
    await measure('a request', 'alice', 'escrow', 'reclaim', requested)
    await blacklist('alice', true)
    await measure('a buy that becomes a claim', 'alice', 'escrow', 'reclaim', claimed)
    await chain.send('alice', 'escrow', 'reclaim', bytes32('held'))
    const reclaimed = await orderOf(chain, bytes32('held'))
    await relay(
      'after a reclaim, 512 bytes',
      portfolioUpdate(reclaimed, { ...(await writeOf('alice', 512)), state: 3n }),
    )
    await blacklist('alice', false)
    const bob = account('bob')
    await measure('', 'owner', 'escrow', 'approveClaimRecipient', account('alice'), USDC, bob)
    const snapshot = await chain.provider.send('evm_snapshot', [])
    await measure('USDC, to the account', 'alice', 'escrow', 'claim', USDC, account('alice'))
    await chain.provider.send('evm_revert', [snapshot])
    await measure('USDC, to an approved wallet', 'alice', 'escrow', 'claim', USDC, bob)
  },

  async claimingShares() {
    const order = await request('alice', 'withdrawal')
    await freeze('alice', true)
    const paid = { payoutAsset: AAPL, payout: shares(3), ...(await writeOf('alice', 512)) }
    await relay(undefined, settlement(order, paid))
    await freeze('alice', false)
    await measure('shares, to the account', 'alice', 'escrow', 'claim', AAPL, account('alice'))
    await chain.send('alice', 'aapl', 'approve', chain.addressOf('escrow'), shares(1))
    const id = bytes32('deposit')
    const terms = [id, bytes32('deposit sealed'), AAPL, shares(1), DEADLINE]
    await measure('', 'alice', 'escrow', 'openDeposit', ...terms)
    const deposited = settlement(await orderOf(chain, id), await writeOf('alice', 512))
    await relay('a deposit of shares, 512 bytes', deposited)
    await measure('to a wallet', 'alice', 'aapl', 'transfer', account('bob'), shares(1))
    await measure('', 'alice', 'aapl', 'approve', account('bob'), shares(1))
    const moved = [account('alice'), account('carol'), shares(1)]
    await measure('of all that was approved', 'bob', 'aapl', 'transferFrom', ...moved)
    const until = BigInt(DEADLINE)
    const permit = permitOf(chain, 'alice', { spender: account('bob'), value: shares(1), deadline: until })
    await measure('', 'bob', 'aapl', 'permit', ...permit)
  },

  async acting() {
    const split = [0, GENESIS, 2, 1, 0, AAPL, ZERO_BYTES32]
    await measure('', 'owner', 'actions', 'propose', split)
    await measure('', 'owner', 'actions', 'withdraw', await chain.read('actions', 'digestOf', split))
    await chain.send('owner', 'actions', 'propose', split)
    await chain.mineAt(GENESIS + 3 * DAY)
    await measure('a split', 'dave', 'actions', 'enact', split)
    await measure('the pool, over a split', 'dave', 'aapl', 'carry', chain.addressOf('pool'))
  },

  async publishing() {
    const publish = async (label: string, version: bigint, padded: number) => {
      const { parts, digest } = partsOf(bytes(`rulebook ${version}`, HEADER.policy + padded))
      const count = parts.length
      for (const [index, policyBlob] of parts.entries()) {
        const part = { part: BigInt(index), parts: BigInt(count), digest, policyBlob }
        const named = count === 1 ? label : `${label}, part ${index + 1} of ${count}`
        await relay(named, policyUpdate(ORG, account('admin'), { version, ...part }))
      }
    }
    // The size classes of `compactPolicy.ts`.
    await publish('the first, 1,024 bytes', 1n, 1_024)
    await publish('the second, 1,024 bytes', 2n, 1_024)
    await publish('a later one, 1,024 bytes', 3n, 1_024)
    await publish('100 employees who all differ', 4n, 2_560)
    await publish('a default, 20 groups, 500 exceptions', 5n, 14_336)
    await publish('1,000 employees who all differ', 6n, 28_672)
    await publish('10,000 employees who all differ', 7n, 262_144)
  },

  async batches() {
    const countedUntil = BigInt(GENESIS)
    const actions = listHash
    const next = { expectedSupply: shares(7), batch: 2n, countedUntil: countedUntil + 1n, actions }
    await relay('the first of a symbol', batchMint(MSFT, shares(7), { countedUntil, actions }))
    await relay('a later one', batchMint(MSFT, shares(2), next))
    const last = { ...next, expectedSupply: shares(9), batch: 3n }
    await relay('', batchBurn(MSFT, shares(4), last))
  },

  async pooling() {
    await chain.send('dave', 'usdc', 'mint', account('dave'), usd(100))
    await measure('', 'carol', 'pool', 'fund', usd(100))
    await measure('', 'owner', 'pool', 'transferTreasury', usd(100))
    for (const contract of CONTRACTS) {
      if (contract === 'pool' || contract === 'actions') continue
      await chain.send('dave', 'usdc', 'transfer', chain.addressOf(contract), usd(1))
      await measure('', 'dave', contract, 'sweepUsdc')
    }
  },

  async founding() {
    const admits = (label: string, admitted: boolean) =>
      measure(label, 'owner', 'registry', 'setAdmitted', OTHER, account('carol'), admitted)
    await measure('', 'carol', 'registry', 'registerInstitution', OTHER)
    await admits('the first admission', true)
    await admits('a suspension', false)
    await admits('a later admission', true)
  },

  async belonging() {
    const set = (label: string, role: Role, member: boolean) =>
      measure(label, 'admin', 'registry', 'setMember', account(role), member)
    await set('an invitation', 'dave', true)
    await measure('', 'dave', 'registry', 'join', ORG)
    await set('a removal', 'dave', false)
    await set('a second invitation', 'dave', true)
    await set('a withdrawal of an invitation', 'dave', false)
    await measure('', 'bob', 'registry', 'leaveInstitution')
    await measure('', 'admin', 'registry', 'transferAdmin', account('alice'))
    await measure('by a member', 'alice', 'registry', 'acceptAdmin', ORG)
  },

  async moving() {
    let approvedAt = GENESIS + 4 * DAY
    /** Gives the wallet a portfolio of that size, and has its move to the other one approved. */
    const begin = async (lost: Role, own: Role, padded: number) => {
      const order = await request(lost, `${lost} loses it`)
      for (let size = Math.min(padded, 4_096); size < padded; size += 3_968)
        await writeAhead(lost, order, size)
      await relay(undefined, refund(order, await writeOf(lost, padded)))
      await chain.send('owner', 'token', 'setKyc', account(own), true)
      await measure('', 'admin', 'registry', 'proposeMove', account(lost), account(own))
      await measure('', own, 'registry', 'acceptMove', account(lost), PUBLIC_KEY)
      // The authorization names the approval's time, and a zero byte of its signature costs less gas.
      approvedAt += DAY
      await chain.provider.send('evm_setNextBlockTimestamp', [approvedAt])
      await measure('', 'owner', 'registry', 'approveMove', account(lost), account(own))
    }
    const part = async (
      label: string,
      [lost, own]: [Role, Role],
      padded: [number, number],
      partsLeft: bigint,
    ) => {
      const [left, moved] = [await writeOf(lost, padded[0]), await writeOf(own, padded[1])]
      const writes = { toVersion: moved.version, toPrevious: moved.previous }
      const blobs = { toEnclaveBlob: moved.enclaveBlob, toUserBlob: moved.userBlob }
      const wallets = { from: account(lost), to: account(own), ...(await approvalOf(chain, account(lost))) }
      await relay(label, portfolioMove(wallets, { partsLeft, ...left, ...writes, ...blobs }))
    }
    await begin('admin', 'carol', 19_968)
    rows.splice(-3)
    await begin('alice', 'dave', 512)
    await chain.provider.send('evm_increaseTime', [7 * DAY])
    await part('the whole, 512 bytes', ['alice', 'dave'], [512, 512], 0n)
    for (let moved = 3_584; moved <= 18_944; moved += 3_072) {
      const label = moved === 3_584 ? 'the first part of 19,968 bytes' : 'a later part of 19,968 bytes'
      await part(label, ['admin', 'carol'], [20_480 - moved, moved], 1n)
    }
    // The first and the most expensive of them.
    rows.splice(-5, 4)
    await measure('', 'admin', 'registry', 'withdrawMove', account('admin'))
  },

  async governing() {
    const set = (method: string, ...args: unknown[]) => measure('', 'owner', 'token', method, ...args)
    await set('setKyc', account('dave'), true)
    await measure('the first of a symbol', 'owner', 'token', 'setListed', MSFT, true)
    await measure('a delisting', 'owner', 'token', 'setListed', MSFT, false)
    await measure('again', 'owner', 'token', 'setListed', MSFT, true)
    await set('setFrozen', AAPL, account('dave'), true)
    const digest = `0x${'aa'.repeat(32)}`
    await measure('', 'owner', 'authority', 'rotateOwner', account('dave'))
    await measure('', 'owner', 'authority', 'rotateGuardian', account('dave'))
    const attested = [account('dave'), digest, digest]
    await measure('of an attested program', 'owner', 'authority', 'rotateSigner', ...attested)
    await measure('', 'guardian', 'authority', 'revokeMeasurement', digest)
    await measure('', 'owner', 'authority', 'withdrawRotation', 0)
    await measure('', 'guardian', 'authority', 'pause')
    await measure('', 'owner', 'authority', 'liftPause')
  },
}

beforeAll(async () => {
  chain = await startTestChain({ ...OPTIONS, ...usdc })
  await setUp()
  for (const section of Object.values(SECTIONS)) {
    const snapshot = await chain.provider.send('evm_snapshot', [])
    await section()
    await chain.provider.send('evm_revert', [snapshot])
  }
})
afterAll(() => chain?.stop())

const NAMES: Record<(typeof CONTRACTS)[number], string> = {
  escrow: 'OrderEscrow',
  ledger: 'ConfidentialLedger',
  pool: 'PlatformPool',
  registry: 'InstitutionRegistry',
  token: 'EquityToken',
  aapl: 'EquityShares',
  actions: 'CorporateActions',
  authority: 'Authority',
}

function table(contract: keyof typeof NAMES): string {
  const cells = rows
    .filter((row) => row.contract === contract)
    .sort((a, b) => (a.method < b.method ? -1 : Number(a.method > b.method)))
    .map(({ method, label, gas }) => [`\`${method}\``, label, gas.toLocaleString('en-US')])
  const [first = 0, second = 0] = [0, 1].map((column) =>
    Math.max(4, ...cells.map((row) => row[column]?.length ?? 0)),
  )
  const line = ([method = '', label = '', gas = '']: string[]) =>
    `| ${method.padEnd(first)} | ${label.padEnd(second)} | ${gas.padStart(10)} |`
  const rule = `| ${'-'.repeat(first)} | ${'-'.repeat(second)} | ${'-'.repeat(9)}: |`
  return [`## ${NAMES[contract]}`, '', line(['Call', 'Case', 'Gas']), rule, ...cells.map(line)].join('\n')
}

const HEAD = `# Gas of each call

The gas of a whole transaction, with its calldata and the 21,000 of every transaction, less the chain's refunds. \`npm run gas\`
writes this page, and a test compares it with the contracts to the unit
([what the rows mean](../docs/contracts.md#what-calls-cost)).
`

it('gas of a whole buy, with its write-ahead and settlement, is 800,000 at most', () => {
  const gasOf = (method: string, label: string) =>
    rows.find((row) => row.method === method && row.label === label)?.gas ?? 800_001n
  const opened = gasOf('openBuy', 'the account has no other order open')
  const written = gasOf('updatePortfolio', 'a later one, 512 bytes')
  expect(opened + written + gasOf('settle', 'a buy, 512 bytes')).toBeLessThanOrEqual(800_000n)
})

it('gas is as in contracts/gas.md', async () => {
  const page = `${[HEAD, ...CONTRACTS.map(table)].join('\n\n').replace('\n\n\n', '\n\n')}\n`
  await expect(page).toMatchFileSnapshot('../../contracts/gas.md')
})

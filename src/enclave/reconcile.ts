import type { BrokerPosition } from '../broker/index.js'
import type { Hex } from '../protocol/hex.js'
import { bytes32ToName, nameToBytes32, symbolSchema } from '../protocol/identifiers.js'
import type { RunResult } from '../protocol/job.js'
import { dueChange, type Holdings, readHoldings } from './batches.js'
import { restarting } from './failures.js'
import { readHalted } from './halts.js'
import type { BlockPoint } from './heads.js'
import { min } from './money.js'
import type { Run } from './run.js'

/** The inputs of a symbol's next batch. */
interface Supply {
  symbol: Hex
  expectedSupply: bigint
  batch: bigint
  countedUntil: bigint
  /** The list hash of the corporate actions up to then. */
  actions: Hex
  /** The pool's part of the supply: the rest belongs to wallets. */
  pooled: bigint
}

/**
 * Mints or burns, symbol by symbol, the difference between the supply and the broker's holding. A symbol waits until enough
 * accounts have traded it, or its fills have waited long enough. One symbol's failure does not stop the others; the first
 * failure is thrown at the end.
 */
export async function reconcile(run: Run): Promise<RunResult> {
  await run.authorizer.assertRelay()
  const { head: block } = await run.chain.look()
  const names = await symbolsOf(run, block)
  const supplies = await Promise.all(
    names.map(async (name) => ({ name, supply: await readSupply(run, name, block) })),
  )
  // After the supplies: a mint that comes in between makes the batch a conflict, never a wrong one.
  const holdings = await readHoldings(run, block)
  const halted = await haltedNow(run, names)
  const failures: unknown[] = []
  for (const { name, supply } of supplies.filter((each) => !halted.has(each.name))) {
    await balance(run, name, { supply, holdings }).catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
  return { outcome: 'done' }
}

/**
 * Mints what the pool lacks of one symbol for a withdrawal, and no more: what a withdrawal pays out is public, what has
 * been filled since the last batch is not. It mints less, or nothing, when the broker does not hold that much.
 */
export async function mintShortage(run: Run, name: string, needed: bigint): Promise<void> {
  await restarting(async () => {
    const { head } = await run.chain.look()
    const { pooled, ...supply } = await readSupply(run, name, head)
    if (pooled >= needed) return
    const unminted = quantityOf(await run.broker.getPositions(), name) - supply.expectedSupply
    const amount = min(needed - pooled, unminted > 0n ? unminted : 0n)
    if (amount === 0n) return
    await run.authorizer.submit({ primaryType: 'BatchMint', message: { ...supply, amount } })
  })
}

/** Of these symbols. An action that the broker booked while it told its holdings has made them shares of another kind. */
function haltedNow({ broker, chain }: Run, names: readonly string[]): Promise<ReadonlySet<string>> {
  const asked = { ...broker, getBookedEntries: broker.getBookedEntriesNow }
  return readHalted({ broker: asked, chain }, names, { session: false })
}

/** The listed symbols and those that the broker holds. */
async function symbolsOf({ chain, broker }: Run, { hash }: BlockPoint): Promise<string[]> {
  const [listed, positions] = await Promise.all([chain.token.listedSymbols(hash), broker.getPositions()])
  const names = [...listed.map(bytes32ToName), ...positions.map(({ symbol }) => symbol)]
  const equities = names
    .filter((name) => name !== null)
    .filter((name) => symbolSchema.safeParse(name).success)
  return [...new Set(equities)].sort()
}

/**
 * Mints or burns what is due of what was read, and reads again, halts too, whenever another run was first. Withdrawn shares stay at the broker
 * behind their tokens. Only what the pool holds can be burned.
 */
async function balance(
  run: Run,
  name: string,
  before: { supply: Supply; holdings: Holdings },
): Promise<void> {
  let read: typeof before | undefined = before
  await restarting(async () => {
    const current = read ?? (await readAgain())
    read = undefined
    if (current === null) return
    const { supply: found, holdings } = current
    const { pooled, ...supply } = found
    const counted = { name, held: quantityOf(holdings.positions, name), ...supply }
    const { change, countedUntil } = dueChange(run, counted, holdings)
    const burnt = min(-change, pooled)
    if (change > 0n) {
      const message = { ...supply, amount: change, countedUntil }
      await run.authorizer.submit({ primaryType: 'BatchMint', message })
    } else if (burnt > 0n) {
      const message = { ...supply, amount: burnt, countedUntil }
      await run.authorizer.submit({ primaryType: 'BatchBurn', message })
    }
  })

  async function readAgain() {
    const { head } = await run.chain.look()
    const supply = await readSupply(run, name, head)
    const holdings = await readHoldings(run, head)
    return (await haltedNow(run, [name])).has(name) ? null : { supply, holdings }
  }
}

async function readSupply({ chain }: Run, name: string, block: BlockPoint): Promise<Supply> {
  const symbol = nameToBytes32(name)
  const { hash } = block
  const [expectedSupply, batch, countedUntil, pooled, actions] = await Promise.all([
    chain.token.totalSupply(symbol, hash),
    chain.pool.nextBatch(symbol, hash),
    chain.pool.countedUntil(symbol, hash),
    chain.token.balanceOf(chain.addresses.platformPool, symbol, hash),
    chain.listHash(block),
  ])
  return { symbol, expectedSupply, batch, countedUntil, pooled, actions }
}

function quantityOf(positions: readonly BrokerPosition[], name: string): bigint {
  const qty = positions.find(({ symbol }) => symbol === name)?.qty ?? 0n
  return qty > 0n ? qty : 0n
}

import type { BrokerPosition } from '../broker/index.js'
import { formerNamesOf, retiredSymbols, successorOf } from '../protocol/corporateActions.js'
import type { Hex } from '../protocol/hex.js'
import { bytes32ToName, nameToBytes32, symbolSchema } from '../protocol/identifiers.js'
import type { RunResult } from '../protocol/job.js'
import { dueChange, type Holdings, readHoldings } from './batches.js'
import { restarting } from './failures.js'
import { readHalted } from './halts.js'
import type { BlockPoint } from './heads.js'
import { max, min } from './money.js'
import type { Run } from './run.js'

interface Read {
  /** The inputs of a symbol's next batch; `actions` is the list hash of the corporate actions up to then. */
  supply: { symbol: Hex; expectedSupply: bigint; batch: bigint; countedUntil: bigint; actions: Hex }
  /** All names of its equity. */
  names: readonly string[]
  /** The pool's part of the supply: the rest belongs to wallets. */
  pooled: bigint
  /** What wallets have under its former names, while the broker holds all under the last one. */
  former: bigint
}

/**
 * Mints or burns, symbol by symbol, the difference between the supply and the broker's holding. A symbol waits until enough
 * accounts have traded it, or its fills have waited long enough. One symbol's failure does not stop the others; the first
 * failure is thrown at the end.
 */
export async function reconcile(run: Run): Promise<RunResult> {
  await run.authorizer.assertRelay()
  const failures: unknown[] = []
  const { head } = await run.chain.look()
  await run.assertBorne(head)
  const { retired, names } = await symbolsOf(run, head)
  for (const name of retired) await replace(run, name).catch((error) => failures.push(error))
  const { head: block } = await run.chain.look()
  const supplies = await Promise.all(
    names.map(async (name) => ({ name, found: await readSupply(run, name, block) })),
  )
  // After the supplies: a mint that comes in between makes the batch a conflict, never a wrong one.
  const holdings = await readHoldings(run, block)
  const halted = await haltedNow(run, names)
  for (const { name, found } of supplies.filter((each) => !halted.has(each.name))) {
    await balance(run, name, { found, holdings }).catch((error) => failures.push(error))
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
    const { supply, pooled, former } = await readSupply(run, name, head)
    if (pooled >= needed) return
    const held = quantityOf(await run.broker.getPositions(), name)
    const unminted = held - former - supply.expectedSupply
    const amount = min(needed - pooled, unminted > 0n ? unminted : 0n)
    if (amount === 0n) return
    await run.authorizer.submit({ primaryType: 'BatchMint', message: { ...supply, amount } })
  })
}

/** Of these symbols. An action that the broker booked while it told its holdings has made them shares of another kind. */
function haltedNow({ broker, chain, clock }: Run, names: readonly string[]): Promise<ReadonlySet<string>> {
  const asked = { ...broker, getBookedEntries: broker.getBookedEntriesNow }
  return readHalted({ broker: asked, chain, clock }, names, { session: false })
}

/** The listed symbols and those that the broker holds; apart from them the retired ones. */
async function symbolsOf(
  { chain, broker }: Run,
  block: BlockPoint,
): Promise<{ retired: string[]; names: string[] }> {
  const [listed, actions, positions] = await Promise.all([
    chain.token.listedSymbols(block.hash),
    chain.actions(block),
    broker.getPositions(),
  ])
  const retired = retiredSymbols(actions).filter(isTicker)
  const held = positions.map(({ symbol }) => symbol)
  const names = [...new Set([...listed.map(bytes32ToName), ...held])].filter((name) => name !== null)
  return { retired, names: names.filter((name) => isTicker(name) && !retired.includes(name)).sort() }
}

function isTicker(name: string): boolean {
  return symbolSchema.safeParse(name).success
}

/** Burns what the pool holds under a retired symbol, and mints as much under the last one. That amount is public: it shows no fill. */
async function replace(run: Run, name: string): Promise<void> {
  let burnt = 0n
  await restarting(async () => {
    const { head } = await run.chain.look()
    const { pooled, supply } = await readSupply(run, name, head)
    if (pooled === 0n || (await haltedNow(run, [name])).has(name)) return
    await run.authorizer.submit({ primaryType: 'BatchBurn', message: { ...supply, amount: pooled } })
    burnt = pooled
  })
  if (burnt === 0n) return
  const { head } = await run.chain.look()
  const { symbol } = successorOf(name, await run.chain.actions(head))
  await mintShortage(run, symbol, (await readSupply(run, symbol, head)).pooled + burnt)
}

/**
 * Mints or burns what is due of what was read, and reads again, halts too, whenever another run was first. Withdrawn shares stay at the broker
 * behind their tokens. Only what the pool holds can be burned.
 */
async function balance(run: Run, name: string, before: { found: Read; holdings: Holdings }): Promise<void> {
  let read: typeof before | undefined = before
  await restarting(async () => {
    const current = read ?? (await readAgain())
    read = undefined
    if (current === null) return
    const { found, holdings } = current
    const { supply, names, pooled, former } = found
    const counted = { names, held: quantityOf(holdings.positions, name) - former, ...supply }
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
    const found = await readSupply(run, name, head)
    const holdings = await readHoldings(run, head)
    return (await haltedNow(run, [name])).has(name) ? null : { found, holdings }
  }
}

async function readSupply({ chain }: Run, name: string, block: BlockPoint): Promise<Read> {
  const { hash } = block
  const names = formerNamesOf(name, await chain.actions(block))
  const symbol = nameToBytes32(name)
  const [batch, actions, own, others] = await Promise.all([
    chain.pool.nextBatch(symbol, hash),
    chain.listHash(block),
    countsOf(symbol),
    Promise.all(names.slice(1).map((former) => countsOf(nameToBytes32(former)))),
  ])
  // A batch of a former name has counted fills that the broker may show under the last one.
  const countedUntil = others.reduce((last, each) => max(last, each.countedUntil), own.countedUntil)
  return {
    supply: { symbol, expectedSupply: own.supply, batch, countedUntil, actions },
    names,
    pooled: own.pooled,
    former: others.reduce((sum, { supply, pooled }) => sum + supply - pooled, 0n),
  }

  async function countsOf(id: Hex) {
    const [supply, pooled, countedUntil] = await Promise.all([
      chain.token.totalSupply(id, hash),
      chain.token.balanceOf(chain.addresses.platformPool, id, hash),
      chain.pool.countedUntil(id, hash),
    ])
    return { supply, pooled, countedUntil }
  }
}

function quantityOf(positions: readonly BrokerPosition[], name: string): bigint {
  const qty = positions.find(({ symbol }) => symbol === name)?.qty ?? 0n
  return qty > 0n ? qty : 0n
}

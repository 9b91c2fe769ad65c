import type { BrokerPosition } from '../broker/index.js'
import type { Hex } from '../protocol/hex.js'
import { bytes32ToName, nameToBytes32, symbolSchema } from '../protocol/identifiers.js'
import type { RunResult } from '../protocol/job.js'
import { min } from './books.js'
import type { BlockPoint } from './chainState.js'
import { restarting } from './failures.js'
import type { Run } from './run.js'

/** What a symbol's next batch is computed from. */
interface Supply {
  symbol: Hex
  expectedSupply: bigint
  batch: bigint
  /** What the pool holds of the supply: the rest belongs to wallets. */
  pooled: bigint
}

/**
 * Mints or burns, symbol by symbol, the difference between the supply and the broker's holding. One symbol's failure
 * does not stop the others; the first failure is thrown at the end.
 */
export async function reconcile(run: Run): Promise<RunResult> {
  const names = await symbolsOf(run)
  const block = await run.chain.latest()
  const supplies = await Promise.all(names.map((name) => readSupply(run, name, block)))
  // After the supplies: a mint that comes in between makes the batch a conflict, never a wrong one.
  const positions = await run.broker.getPositions()
  const failures: unknown[] = []
  for (const [index, name] of names.entries()) {
    await balance(run, name, { supply: supplies[index], positions }).catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
  return { outcome: 'done' }
}

/** The same for one symbol. */
export async function reconcileSymbol(run: Run, name: string): Promise<void> {
  if (!run.haltedSymbols.has(name)) await balance(run, name)
}

/** What is listed, and what the broker holds of equities; without what is halted. */
async function symbolsOf({ chain, broker, haltedSymbols }: Run): Promise<string[]> {
  const [listed, positions] = await Promise.all([chain.token.listedSymbols(), broker.getPositions()])
  const names = [...listed.map(bytes32ToName), ...positions.map(({ symbol }) => symbol)]
  const equities = names
    .filter((name) => name !== null)
    .filter((name) => symbolSchema.safeParse(name).success)
  return [...new Set(equities)].filter((name) => !haltedSymbols.has(name)).sort()
}

/** Acts on what was read, and reads again whenever another run was first. */
async function balance(
  run: Run,
  name: string,
  seen: { supply?: Supply | undefined; positions?: BrokerPosition[] } = {},
): Promise<void> {
  let { supply, positions } = seen
  await restarting(async () => {
    const [from, held] = [
      supply ?? (await readSupply(run, name, await run.chain.latest())),
      positions ?? (await run.broker.getPositions()),
    ]
    supply = undefined
    positions = undefined
    await mintOrBurn(run, from, quantityOf(held, name))
  })
}

/** Withdrawn shares stay at the broker behind their tokens. Only what the pool holds can be burned. */
async function mintOrBurn({ authorizer }: Run, { pooled, ...supply }: Supply, held: bigint): Promise<void> {
  const { expectedSupply } = supply
  if (held > expectedSupply) {
    await authorizer.submit({
      primaryType: 'BatchMint',
      message: { ...supply, amount: held - expectedSupply },
    })
  }
  const amount = min(expectedSupply > held ? expectedSupply - held : 0n, pooled)
  if (amount > 0n) await authorizer.submit({ primaryType: 'BatchBurn', message: { ...supply, amount } })
}

async function readSupply({ chain }: Run, name: string, { number }: BlockPoint): Promise<Supply> {
  const symbol = nameToBytes32(name)
  const [expectedSupply, batch, pooled] = await Promise.all([
    chain.token.totalSupply(symbol, number),
    chain.pool.nextBatch(symbol, number),
    chain.token.balanceOf(chain.addresses.platformPool, symbol, number),
  ])
  return { symbol, expectedSupply, batch, pooled }
}

function quantityOf(positions: readonly BrokerPosition[], name: string): bigint {
  const qty = positions.find(({ symbol }) => symbol === name)?.qty ?? 0n
  return qty > 0n ? qty : 0n
}

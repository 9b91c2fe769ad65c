import { bytes32ToName, nameToBytes32 } from '../protocol/identifiers.js'
import type { RunResult } from '../protocol/job.js'
import { least } from './books.js'
import { restarting } from './failures.js'
import type { Run } from './run.js'

/** Mints or burns, symbol by symbol, what the supply differs from the broker's holding. */
export async function reconcile(run: Run): Promise<RunResult> {
  const [listed, positions] = await Promise.all([run.chain.token.listedSymbols(), run.broker.getPositions()])
  const names = listed.map((symbol) => bytes32ToName(symbol) ?? '')
  const symbols = new Set([...names, ...positions.map(({ symbol }) => symbol)])
  for (const symbol of [...symbols].sort()) {
    if (symbol !== '') await reconcileSymbol(run, symbol)
  }
  return { outcome: 'done' }
}

/** The same for one symbol. Another run that was first makes it read again. */
export async function reconcileSymbol(run: Run, symbol: string): Promise<void> {
  if (!run.haltedSymbols.has(symbol)) await restarting(() => balance(run, symbol))
}

/**
 * The supply is the pool's shares and the withdrawn ones, which stay at the broker behind their tokens. Only what the
 * pool holds can be burned: the rest belongs to wallets.
 */
async function balance({ chain, broker, authorizer }: Run, name: string): Promise<void> {
  const symbol = nameToBytes32(name)
  const block = await chain.latest()
  const [expectedSupply, batch, pooled] = await Promise.all([
    chain.token.totalSupply(symbol, block.number),
    chain.pool.nextBatch(symbol, block.number),
    chain.token.balanceOf(chain.addresses.platformPool, symbol, block.number),
  ])
  const position = (await broker.getPositions()).find((held) => held.symbol === name)
  const held = position && position.qty > 0n ? position.qty : 0n
  const common = { symbol, expectedSupply, batch }
  if (held > expectedSupply) {
    const amount = held - expectedSupply
    await authorizer.submit({ primaryType: 'BatchMint', message: { ...common, amount } })
  }
  const excess = expectedSupply > held ? expectedSupply - held : 0n
  const amount = least(excess, pooled)
  if (amount > 0n) await authorizer.submit({ primaryType: 'BatchBurn', message: { ...common, amount } })
}

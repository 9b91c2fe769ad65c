// The servers that ours is compared with: `peer.ts` has their code.
import * as z from 'zod'
import { BENCH_DIRECTORY, type BenchContext, type Turn } from './figure.js'
import { type LoadPlan, takeTurn } from './load.js'
import { startHelper, type Target } from './processes.js'

export const peerTaskSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.enum(['bare', 'plain']),
    method: z.enum(['GET', 'POST']),
    /** An Express path, such as `/orders/:orderId`. */
    path: z.string(),
    status: z.int(),
    /** The same answer as ours. */
    body: z.json(),
    /** Holds the plain one's log and database. */
    directory: z.string(),
  }),
  z.strictObject({
    kind: z.literal('plainRelay'),
    rpcUrl: z.string(),
    chainId: z.int(),
    ledger: z.string(),
    privateKey: z.string(),
    /** The address of the enclave's key. */
    signer: z.string(),
    /** Made quick for this chain; otherwise ethers as it is by default. */
    tuned: z.boolean(),
  }),
])
export type PeerTask = z.output<typeof peerTaskSchema>

export async function startPeer(cleanUp: AsyncDisposableStack, task: PeerTask): Promise<Target> {
  const { ask, pid } = startHelper(cleanUp, './peer.ts')
  const { port } = await ask(task, z.strictObject({ port: z.int() }))
  return { url: `http://127.0.0.1:${port}`, pid }
}

/**
 * Rows of our servers and of two peers that answer as ours does: a bare route, and the usual middleware.
 *
 * @param path of the peers' route
 * @param servers ours, by the names of their rows
 * @param plan the load of a round, the same for every server
 */
export async function besidePeers(
  { cleanUp, generator }: BenchContext,
  path: string,
  servers: Readonly<Record<string, Target>>,
  plan: (round: number) => Omit<LoadPlan, 'urls'>,
): Promise<Record<string, Turn>> {
  const { requests, headers } = plan(0)
  const [[ours], [request]] = [Object.values(servers), requests]
  if (ours === undefined || request === undefined) throw new Error('there is nothing to compare')
  const { method, body } = request
  const answer = await fetch(`${ours.url}${request.path}`, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body !== undefined && { body }),
  })
  const same = { status: answer.status, body: z.json().parse(await answer.json()) }
  const task = { method, path, ...same, directory: BENCH_DIRECTORY }
  const bare = await startPeer(cleanUp, { kind: 'bare', ...task })
  const plain = await startPeer(cleanUp, { kind: 'plain', ...task })
  const rows = Object.entries({ ...servers, bare, plain }).map(([name, target]) => [
    name,
    // Failures of a peer are counted. One of ours ends the bench: its figures have no meaning then.
    (round: number) => takeTurn(name in servers ? generator.loadAll : generator.load, target, plan(round)),
  ])
  return Object.fromEntries(rows)
}

import { onTestFinished } from 'vitest'
import type { RelayerSigner } from '../../../src/server/signer/signer.js'
import { type Engine, type Fence, storageError } from '../../../src/server/store/engine.js'
import { createDatabases, openPostgres } from '../../../src/server/store/postgres/postgresEngine.js'
import type { Secret } from '../../../src/service/secret.js'
import type { TestChain } from '../../support/chain.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { startRelay } from './relayUnderTest.js'

const TTL_MS = 1_000

export type ServerUnderTest = Awaited<ReturnType<typeof startServerUnderTest>>

/** The server is killed before or after a write happens; or it lives, and the answer of the write is lost. */
interface WriteFault {
  readonly kind: 'die before' | 'die after' | 'lose the answer'
  readonly afterWrites: number
}

export async function openShared(url: Secret): Promise<Engine> {
  const engine = await openPostgres(createDatabases(url))
  onTestFinished(() => engine.stop())
  return engine
}

const noFault = (): (WriteFault & { left: number }) | undefined => undefined

/** Each call fails from the moment on at which its server has died. */
function mortal(engine: Engine) {
  const awake = Promise.withResolvers<void>()
  const life = {
    isOver: false,
    hasNoLeases: false,
    awake: awake.promise,
    wake: awake.resolve,
    die: () => {
      life.isOver = true
    },
    fault: noFault(),
  }
  const living = <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) => {
    return async (...args: A) => {
      if (life.isOver) throw storageError('DEAD')
      const result = await call(...args)
      if (life.isOver) throw storageError('DEAD')
      return result
    }
  }
  const { leases } = engine

  const disturbed = <A extends readonly unknown[], R>(write: (...args: A) => Promise<R>) => {
    return async (...args: A) => {
      const { fault } = life
      if (fault === undefined || fault.left-- > 0) return living(write)(...args)
      life.fault = undefined
      if (fault.kind !== 'die before') await write(...args)
      if (fault.kind !== 'lose the answer') life.die()
      throw storageError(fault.kind === 'lose the answer' ? 'ETIMEDOUT' : 'DEAD')
    }
  }

  return {
    life,
    engine: {
      ...engine,
      get: living(engine.get),
      open: living(engine.open),
      openWithKey: living(engine.openWithKey),
      transact: disturbed(engine.transact),
      sums: living(engine.sums),
      leases: {
        async take(lease: string, holder: string, ttlMs: number) {
          return life.hasNoLeases ? undefined : living(leases.take)(lease, holder, ttlMs)
        },
        // Like a stopped process: its timers do not end the term.
        async renew(fence: Fence, ttlMs: number) {
          if (life.hasNoLeases) await life.awake
          return living(leases.renew)(fence, ttlMs)
        },
        release: living(leases.release),
        list: living(leases.list),
      },
    },
  }
}

/** A server on a PostgreSQL that others share, and on a chain behind a proxy of its own. */
export async function startServerUnderTest(options: {
  readonly chain: TestChain
  readonly url: Secret
  readonly serverId: string
  readonly env?: Record<string, string>
  readonly signer?: RelayerSigner
}) {
  const { chain, url, serverId, env, signer } = options
  const proxy = await startFaultProxy(chain.anvil.rpcUrl)
  const { life, engine } = mortal(await openShared(url))
  const relay = await startRelay({
    chain,
    dataDir: 'none',
    engine,
    serverId,
    rpcUrl: proxy.url,
    env: { LEASE_TTL: `${TTL_MS}ms`, ...env },
    searchEveryMs: TTL_MS,
    ...(signer && { signer }),
  })
  life.die = () => {
    life.isOver = true
    proxy.fault = () => 'drop'
  }
  onTestFinished(() => life.wake())
  return {
    relay,
    engine,
    proxy,
    /** From now on it renews no lease. */
    loseLeases() {
      life.hasNoLeases = true
    },
    /** From now on it reaches neither the store nor the chain, as a server that was killed. */
    die: () => life.die(),
    isDead: () => life.isOver,
    /** What becomes of its write after so many more. */
    disturb(fault: WriteFault) {
      life.fault = { ...fault, left: fault.afterWrites }
    },
  }
}

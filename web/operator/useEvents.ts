import type { Log, Provider } from 'ethers'
import { useEffect, useState } from 'preact/hooks'
import { contractsOf } from '../chain/contracts.js'
import { readLogs } from '../chain/logs.js'
import type { Settings } from '../settings.js'

const [POLL_MS, SHOWN, BLOCKS_BACK] = [2_000, 100, 5_000]

export interface Events {
  /** Newest first. */
  readonly logs: readonly Log[]
  /** The chain's newest block that was read. */
  readonly block: number | null
  readonly error: unknown
}

/** The five contracts' logs as they happen, and those of the last blocks before. */
export function useEvents(provider: Provider, { pins, chain }: Settings): Events {
  const [state, setState] = useState<Events>({ logs: [], block: null, error: null })
  useEffect(() => {
    let ended = false
    let timer = 0
    let next: number | null = null
    const look = async () => {
      try {
        const head = await provider.getBlockNumber()
        const fromBlock = next ?? Math.max(chain.firstBlock, head - BLOCKS_BACK)
        const address = Object.values(await contractsOf(provider, pins.escrow))
        const found = await readLogs(provider, { address, fromBlock, toBlock: head })
        if (ended) return
        next = head + 1
        setState(({ logs }) => ({
          logs: [...found.reverse(), ...logs].slice(0, SHOWN),
          block: head,
          error: null,
        }))
      } catch (error) {
        if (!ended) setState((before) => ({ ...before, error }))
      }
      if (!ended) timer = window.setTimeout(look, POLL_MS)
    }
    look()
    return () => {
      ended = true
      window.clearTimeout(timer)
    }
  }, [provider, pins, chain])
  return state
}

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'

/** Stands between this sandbox's enclaves and their node until the test ends; they read their file anew for every run. */
export async function watchEnclaveNode({ directory, info }: Sandbox): Promise<RpcProxy> {
  const proxy = await startRpcProxy(info.rpcUrl)
  const file = join(directory, '.env.enclave')
  const before = await readFile(file, 'utf8')
  onTestFinished(() => writeFile(file, before))
  await writeFile(file, before.replace(/^RPC_URL=.*$/m, `RPC_URL=${proxy.url}`))
  return proxy
}

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'

/** Stands between this sandbox's enclave and its node until the test ends. The enclave reads its file when it starts. */
export async function watchEnclaveNode({ directory, info, enclave }: Sandbox): Promise<RpcProxy> {
  const proxy = await startRpcProxy(info.rpcUrl)
  const file = join(directory, '.env.enclave')
  const before = await readFile(file, 'utf8')
  onTestFinished(async () => {
    await writeFile(file, before)
    await enclave()?.kill()
  })
  await writeFile(file, before.replace(/^RPC_URL=.*$/m, `RPC_URL=${proxy.url}`))
  await enclave()?.kill()
  return proxy
}

import { access, constants } from 'node:fs/promises'
import type { Service } from '../lifetime.js'
import type { Logger } from '../logger.js'

/**
 * Says at the start when this user can't read the enclave's own configuration, without reading it: every run would end
 * without a result, and what the enclave says of it is discarded.
 */
export function createEnvFileCheck({ path, logger }: { path: string; logger: Logger }): Service {
  return {
    name: 'enclave configuration',
    async start() {
      try {
        await access(path, constants.R_OK)
      } catch (error) {
        const errorCode = error instanceof Error && 'code' in error ? String(error.code) : undefined
        logger.warn('ENCLAVE_ENV_FILE cannot be read: no enclave run can succeed', { errorCode })
      }
    },
    async stop() {},
  }
}

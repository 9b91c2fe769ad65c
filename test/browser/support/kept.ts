import type { Page } from 'playwright-core'

/** All that the browser keeps for a page, as text: both storages, and each record of its databases with its name. */
export function keptOf(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const answerOf = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(request.error)
      })
    const found = [localStorage, sessionStorage].map((storage) => JSON.stringify({ ...storage }))
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await answerOf(indexedDB.open(name))
      for (const table of database.objectStoreNames) {
        const records = database.transaction(table).objectStore(table)
        const [keys, values] = await Promise.all([answerOf(records.getAllKeys()), answerOf(records.getAll())])
        const texts = values.map((kept: Uint8Array | string) =>
          typeof kept === 'string' ? kept : new TextDecoder().decode(kept),
        )
        found.push(...keys.map((key, at) => `${key} ${texts[at]}`))
      }
      database.close()
    }
    return found
  })
}

// The two calls for many records: one INSERT of the whole array, one DELETE, each in the request's transaction.
const cds = require('@sap/cds')

const ENTITIES = { TestRecords: 'tollgate.subject.TestRecords' }

class MassChange extends cds.ApplicationService {
  init() {
    this.on('insertAll', async request => {
      const { insEntity, insArray } = request.data
      const entity = ENTITIES[insEntity]
      if (!entity) return request.reject(400, `insEntity: there is no entity ${insEntity}`)
      if (!insArray?.length) return request.reject(400, 'insArray: at least one record is expected')
      await INSERT.into(entity).entries(insArray)
      return insArray.length
    })
    this.on('deleteAllRecs', () => DELETE.from(ENTITIES.TestRecords))
    return super.init()
  }
}

module.exports = { MassChange }

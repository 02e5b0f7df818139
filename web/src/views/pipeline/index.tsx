// Stands where the pipeline view will be.
import { Empty } from '../../ui/states'

export default function View() {
  return <Empty title="Pipeline" text="This view is being built." />
}

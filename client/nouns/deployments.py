"""`client.deployments`."""

from callwright.client.nouns.method import Noun, listing, method
from callwright.contract.deployments import deployments


class Deployments(Noun):
    """Deployments: campaigns, and numbers whose callers an agent answers.

    `start` and `resume` make calls; `create` does with `auto_start` only. `create_inbound` calls nobody.
    """

    list = listing(deployments.list_deployments)
    get = method(deployments.get_deployment)
    create = method(deployments.create_deployment)
    clone = method(deployments.clone_deployment)
    create_inbound = method(deployments.create_inbound_deployment)
    update = method(deployments.update_deployment)
    delete = method(deployments.delete_deployment)
    preview = method(deployments.preview_deployment)
    start = method(deployments.start_deployment)
    pause = method(deployments.pause_deployment)
    resume = method(deployments.resume_deployment)
    cancel = method(deployments.cancel_deployment)
    list_contacts = listing(deployments.list_contacts)

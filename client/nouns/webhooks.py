"""`client.webhooks`."""

from callwright.client.nouns.method import Noun, listing, method
from callwright.contract import webhooks


class Webhooks(Noun):
    """Webhook subscriptions, and what was sent to them. `create` and `rotate_secret` alone show the secret."""

    list = listing(webhooks.list_webhooks)
    get = method(webhooks.get_webhook)
    create = method(webhooks.create_webhook)
    update = method(webhooks.update_webhook)
    delete = method(webhooks.delete_webhook)
    rotate_secret = method(webhooks.rotate_webhook_secret)
    test = method(webhooks.test_webhook)
    list_deliveries = listing(webhooks.list_webhook_deliveries)
    get_delivery = method(webhooks.get_webhook_delivery)
    replay = method(webhooks.replay_webhook)

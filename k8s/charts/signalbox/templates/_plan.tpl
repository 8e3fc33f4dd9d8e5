{{/* Lays the map `over` over the map `into`, key by key; lists and single values are replaced. */}}
{{- define "signalbox.overlay" -}}
{{- range $key, $value := .over -}}
  {{- $below := get $.into $key -}}
  {{- if and (kindIs "map" $value) (kindIs "map" $below) -}}
    {{- include "signalbox.overlay" (dict "into" $below "over" $value) -}}
  {{- else -}}
    {{- $_ := set $.into $key $value -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/*
What is to be rendered, as JSON, once it is known to be possible:
  deployments  name -> its values over `defaults`, with `fullname`, `several` (pods), `embedded` (stores), `keeps` (something
               on its volume) and `kind`
  owners       role -> name of the deployment that has it
*/}}
{{- define "signalbox.plan" -}}
{{- $deployments := dict -}}
{{- $owners := dict -}}
{{- range $name, $given := .Values.deployments -}}
  {{- $deployment := deepCopy $.Values.defaults -}}
  {{- include "signalbox.overlay" (dict "into" $deployment "over" ($given | default dict)) -}}
  {{- if and $given $deployment.enabled -}}
    {{- $roles := $deployment.roles | default list -}}
    {{- include "signalbox.checkRoles" (dict "name" $name "roles" $roles "owners" $owners) -}}
    {{- range $roles }}{{ $_ := set $owners . $name }}{{ end -}}
    {{- $files := or (and (has "budget" $roles) (not $.Values.postgresql.url)) (and (has "ingest" $roles) (not $.Values.clickhouse.url)) -}}
    {{- $keeps := or $files (has "router" $roles) (has "adapter" $roles) -}}
    {{- $_ := set $deployment "fullname" (printf "%s-%s" (include "signalbox.fullname" $) $name) -}}
    {{- $_ := set $deployment "several" (or $deployment.hpa.enabled (gt (int $deployment.replicas) 1)) -}}
    {{- $_ := set $deployment "embedded" $files -}}
    {{- $_ := set $deployment "keeps" $keeps -}}
    {{- $_ := set $deployment "kind" (ternary "StatefulSet" "Deployment" (and $keeps $.Values.spool.persistence.enabled)) -}}
    {{- $_ := set $deployments $name $deployment -}}
  {{- end -}}
{{- end -}}
{{- $plan := dict "deployments" $deployments "owners" $owners -}}
{{- include "signalbox.check" (dict "root" . "plan" $plan) -}}
{{- toJson $plan -}}
{{- end -}}

{{/* Who calls whom, as JSON: role -> the roles that it calls. */}}
{{- define "signalbox.arrows" -}}
{{- dict
  "router" (list "adapter" "budget" "cache")
  "adapter" (list "budget")
  "ingest" (list "budget")
  "budget" (list "ingest")
  "cache" (list "adapter" "budget")
  | toJson -}}
{{- end -}}

{{/* Whether a role calls another over the network, since they are in different deployments: "true" or nothing. (dict "plan"
PLAN "from" ROLE "to" ROLE). An adapter beside a router serves that router alone. */}}
{{- define "signalbox.crosses" -}}
{{- $owners := .plan.owners -}}
{{- $from := get $owners .from -}}
{{- $to := get $owners .to -}}
{{- $reserved := and (eq .to "adapter") (eq $to (get $owners "router")) -}}
{{- if and $from $to (ne $from $to) (not $reserved) }}true{{ end -}}
{{- end -}}

{{- define "signalbox.peerPort" -}}
{{ ternary 50052 50051 .Values.mtls.enabled }}
{{- end -}}
